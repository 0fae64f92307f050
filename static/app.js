// What every page needs beside htmx: refusals that say where they belong are shown, all others become one sentence.
"use strict";

(() => {
  const box = document.getElementById("app-problem");

  function tell(sentence) {
    box.textContent = sentence;
    box.hidden = false;
    box.scrollIntoView({ block: "nearest" });
  }

  // What the page asks for by itself neither clears nor makes a complaint.
  const quiet = (event) => Boolean(event.target.closest?.("[data-quiet]"));

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (!quiet(event)) {
      box.hidden = true;
    }
  });

  document.addEventListener("htmx:beforeSwap", (event) => {
    const xhr = event.detail.xhr;
    // Every fragment of ours names its place. What does not is a whole page: the sign-in, or an error.
    const ours = xhr.getResponseHeader("HX-Retarget") !== null;
    event.detail.shouldSwap = ours;
    event.detail.isError = !ours;
    if (!ours && !event.detail.requestConfig?.elt?.closest("[data-quiet]")) {
      tell(new URL(xhr.responseURL, location.href).pathname.startsWith("/login/") ? box.dataset.signedOut : box.dataset.failed);
    }
  });

  document.addEventListener("htmx:sendError", (event) => {
    if (!quiet(event)) {
      tell(box.dataset.failed);
    }
  });
})();
