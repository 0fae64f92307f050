// The chat page: sends a message with fetch and shows the reply as it comes. Without it the form posts by itself.
"use strict";

(() => {
  const turns = document.getElementById("turns");
  const earlier = document.getElementById("earlier");
  if (location.hash.startsWith("#message-") && earlier && !document.getElementById(location.hash.slice(1))) {
    location.replace(earlier.href + location.hash); // a link to a message that is on an earlier page
    return;
  }
  if (!location.hash && turns.querySelector(".turn")) {
    window.scrollTo(0, document.body.scrollHeight);
  }

  const form = document.getElementById("composer");
  if (!form) {
    return;
  }
  const say = form.dataset;
  const message = document.getElementById("message");
  const problem = document.getElementById("composer-problem");
  const sendButton = document.getElementById("send");
  const stopButton = document.getElementById("stop");
  const announce = document.getElementById("announce");
  const STOP_PATIENCE = 3000; // milliseconds; the server looks for a stop twice a second while text comes
  let busy = null; // the turn under way: {abort, addresses, stopped}

  function complain(sentence, name = "message") {
    problem.textContent = sentence;
    problem.hidden = !sentence;
    form.querySelectorAll("[aria-invalid]").forEach((field) => field.removeAttribute("aria-invalid"));
    if (sentence) {
      form.elements[name].setAttribute("aria-invalid", "true");
    }
    if (name !== "message") {
      form.elements[name].focus();
    }
  }

  function element(name, className, text) {
    const made = document.createElement(name);
    made.className = className;
    if (text !== undefined) {
      made.textContent = text;
    }
    return made;
  }

  function bubble(role, who, text) {
    const article = element("article", `message message-${role}`);
    const body = element("div", "message-text", text);
    body.dir = "auto";
    article.append(element("h2", "message-who", who), body);
    return article;
  }

  function nearBottom() {
    return window.innerHeight + window.scrollY > document.body.scrollHeight - 160;
  }

  function keepInView(wasNear) {
    if (wasNear) {
      window.scrollTo(0, document.body.scrollHeight);
    }
  }

  function show(running) {
    sendButton.hidden = running;
    stopButton.hidden = !running;
    stopButton.disabled = false;
    turns.setAttribute("aria-busy", String(running));
  }

  function takeFocusBack() {
    // Only when it went away with a button, and not where it would open a keyboard over the reply.
    const active = document.activeElement;
    const lost = active === document.body || !active.checkVisibility();
    if (lost && window.matchMedia("(pointer: fine)").matches) {
      message.focus({ preventScroll: true });
    }
  }

  function piece(html) {
    const holder = document.createElement("template");
    holder.innerHTML = html; // a part of the page, made and escaped by the server's templates
    return holder.content;
  }

  async function* events(response) {
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) {
        return;
      }
      rest += value;
      const whole = rest.split("\n\n");
      rest = whole.pop();
      for (const text of whole) {
        const lines = text.split("\n");
        const kind = lines.find((line) => line.startsWith("event: "));
        const data = lines.find((line) => line.startsWith("data: "));
        if (data) {
          yield { kind: kind ? kind.slice(7) : "text", data: JSON.parse(data.slice(6)) };
        }
      }
    }
  }

  async function send(source, text) {
    complain("");
    busy = { abort: new AbortController(), addresses: null, stopped: false };
    const turn = element("div", "turn turn-running");
    const state = element("p", "turn-status", say.writing);
    let body = null;
    let ended = false;
    show(true);
    try {
      const response = await fetch(form.action, {
        method: "POST",
        headers: { Accept: "text/event-stream" },
        body: new URLSearchParams(new FormData(source)),
        signal: busy.abort.signal,
      });
      if (!(response.headers.get("Content-Type") || "").startsWith("text/event-stream")) {
        const { problem: sentence, field } = await refusal(response);
        complain(sentence, field);
        return;
      }
      for await (const { kind, data } of events(response)) {
        const near = nearBottom();
        if (kind === "session") {
          begin(source, turn, state, text, data);
          keepInView(true);
        } else if (kind === "text") {
          if (!body) {
            turn.insertBefore(bubble("assistant", say.agent, ""), state);
            body = turn.querySelector(".message-assistant .message-text");
          }
          body.append(data);
          keepInView(near);
        } else {
          ended = true;
          finish(turn, data);
          keepInView(near);
        }
      }
      if (!ended) {
        broken(turn, state);
      }
    } catch {
      broken(turn, state);
    } finally {
      busy = null;
      show(false);
      takeFocusBack();
    }
  }

  async function refusal(response) {
    if ((response.headers.get("Content-Type") || "").startsWith("application/json")) {
      return response.json();
    }
    return { problem: new URL(response.url).pathname.startsWith("/login/") ? say.signedOut : say.refused };
  }

  function begin(source, turn, state, text, addresses) {
    busy.addresses = addresses;
    busy.missed = Boolean(addresses.before) && !document.getElementById(`turn-${addresses.before}`);
    document.getElementById("no-turns")?.remove();
    turns.querySelectorAll(".retry").forEach((old) => old.remove());
    const asked = bubble("user", say.you, text);
    asked.id = `message-${addresses.message}`;
    turn.id = `turn-${addresses.turn}`;
    turn.append(asked, state);
    turns.append(turn);
    form.action = addresses.send;
    document.querySelectorAll("[data-first]").forEach((old) => old.remove()); // what only a first message needs
    if (addresses.title) {
      say.agent = addresses.agent;
      document.getElementById("chat-title").textContent = addresses.title;
    }
    history.replaceState(null, "", addresses.url);
    if (source === form) {
      message.value = ""; // the server has stored it
    }
    announce.textContent = say.writing;
  }

  function finish(turn, data) {
    turn.replaceWith(piece(data.turn));
    htmx.process(turns); // the line that says what was learned asks for itself
    document.getElementById("sessions")?.replaceWith(piece(data.sessions));
    const title = document.querySelector("#sessions a[aria-current] .session-title");
    if (title) {
      document.getElementById("chat-title").textContent = title.textContent;
    }
    const reply = turns.querySelector(`#turn-${busy.addresses.turn} .message-assistant .message-text`);
    announce.textContent = [data.problem, reply?.textContent].filter(Boolean).join(" ");
    if (busy.missed && !message.value) {
      location.reload(); // another tab wrote in between: the page shows all of it
    }
  }

  function broken(turn, state) {
    if (!busy.addresses) {
      complain(say.offline);
      return;
    }
    state.textContent = busy.stopped ? say.stopped : say.cut;
    announce.textContent = state.textContent;
  }

  async function stop() {
    const current = busy;
    if (!current) {
      return;
    }
    stopButton.disabled = true;
    current.stopped = true;
    announce.textContent = say.stopping;
    if (!current.addresses) {
      current.abort.abort();
      return;
    }
    const fields = new URLSearchParams(new FormData(form));
    fields.delete("message");
    fields.set("turn", current.addresses.turn);
    setTimeout(() => current.abort.abort(), STOP_PATIENCE);
    await fetch(current.addresses.stop, { method: "POST", headers: { Accept: "text/event-stream" }, body: fields }).catch(() => {});
  }

  // A turn that was running when the page came: its piece asks for itself until the reply is there.
  document.addEventListener("htmx:afterSwap", (event) => {
    const turn = turns.querySelector(`#${CSS.escape(event.detail.target.id)}.turn:not(.turn-running)`);
    if (turn) {
      announce.textContent = turn.querySelector(".message-assistant .message-text")?.textContent || "";
      keepInView(nearBottom());
    }
  });

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!busy) {
      send(form, message.value);
    }
  });
  turns.addEventListener("submit", (event) => {
    if (event.target.matches(".retry")) {
      event.preventDefault();
      if (!busy) {
        send(event.target, event.target.elements.message.value);
      }
    }
  });
  stopButton.addEventListener("click", stop);
  message.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (!busy) {
        form.requestSubmit();
      }
    }
  });
})();
