// What every page needs beside htmx: refusals that say where they belong are shown, all others become one sentence;
// the keyboard's place is kept when a piece of the page is replaced; texts with a limit are counted while they are typed.
"use strict";

(() => {
  const box = document.getElementById("app-problem");

  function tell(sentence) {
    box.textContent = sentence;
    box.hidden = false;
    box.scrollIntoView({ block: "nearest" });
  }

  let place = ""; // the id of the part of the page in which the last request began

  // What the page asks for by itself neither clears nor makes a complaint.
  const quiet = (event) => Boolean(event.target.closest?.("[data-quiet]"));

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!quiet(event)) {
      box.hidden = true;
      place = event.target.closest(".fact, #consent")?.id || "";
    }
  });

  document.addEventListener("htmx:beforeSwap", (event) => {
    const xhr = event.detail.xhr;
    // Every fragment of ours names its place. What does not is a whole page: the sign-in, or an error.
    const ours = xhr.getResponseHeader("HX-Retarget") !== null;
    event.detail.shouldSwap = ours;
    event.detail.isError = !ours;
    if (!ours && !event.detail.requestConfig?.elt?.closest("[data-quiet]")) {
      tell(box.dataset[reason(xhr)]);
    }
  });

  // Why the answer was a whole page. After another sign-in the forms of this one are refused, too, with a 403.
  function reason(xhr) {
    if (new URL(xhr.responseURL, location.href).pathname.startsWith("/login/")) {
      return "signedOut";
    }
    return xhr.status === 403 || xhr.status === 404 ? "outOfDate" : "failed";
  }

  document.addEventListener("htmx:sendError", (event) => {
    if (!quiet(event)) {
      tell(box.dataset.failed);
    }
  });

  // A form of the list is fetched into its row. One listener for all: 400 links need neither attributes nor handlers.
  document.addEventListener("click", (event) => {
    const link = event.target.closest(".fact-actions a");
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.altKey;
    if (link && window.htmx && !elsewhere && !event.defaultPrevented) {
      event.preventDefault();
      htmx.ajax("GET", link.getAttribute("href"), { source: link, target: link.closest(".fact"), swap: "outerHTML" });
    }
  });

  document.addEventListener("htmx:afterSettle", (event) => {
    document.querySelectorAll("textarea[data-limit]").forEach(count);
    if (!quiet(event) && document.activeElement === document.body) {
      const wanted = document.querySelector("main [autofocus]");
      (wanted || document.getElementById(place)?.querySelector(".fact-actions a, a.button, button:not(:disabled)"))?.focus();
    }
  });

  function count(area) {
    const counter = document.getElementById(area.dataset.counter);
    const limit = Number(area.dataset.limit);
    const length = [...area.value.normalize("NFC")].length; // code points, as the server counts
    const words = length > limit ? counter.dataset.over : counter.dataset.count;
    counter.textContent = words
      .replace("{count}", length.toLocaleString())
      .replace("{limit}", limit.toLocaleString())
      .replace("{over}", (length - limit).toLocaleString());
    counter.classList.toggle("over", length > limit);
  }

  document.addEventListener("input", (event) => {
    if (event.target.matches("textarea[data-limit]")) {
      count(event.target);
    }
  });
  document.querySelectorAll("textarea[data-limit]").forEach(count);

  // Whoever signs up has the time zone of her browser chosen already, where the list has it.
  document.querySelectorAll("select[data-zone]").forEach((select) => {
    const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (select.value === "UTC" && [...select.options].some((option) => option.value === zone)) {
      select.value = zone;
    }
  });
})();
