// What htmx and HTML do not do: the theme, live views, dropped files, the slider through time. Everything works without it.
"use strict";
(() => {
  const root = document.documentElement;
  const THEMES = ["light", "dark"];
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  // Without a choice, the theme is the system's.
  if (THEMES.includes(kept())) root.dataset.theme = kept();
  root.setAttribute("data-script", "");
  // On a phone, memories come before what narrows them: that is folded before anything is painted.
  const fold = new MutationObserver(() => { const box = document.querySelector("[data-fold]"); if (box) { box.open = false; fold.disconnect(); } });
  if (matchMedia("(max-width: 47.99rem)").matches) fold.observe(root, { childList: true, subtree: true });

  const say = (text) => { document.getElementById("said").textContent = text; };

  function themeSwitch(button) {
    const name = button.querySelector("[data-theme-name]");
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const other = () => ((root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark");
    const show = () => { name.textContent = other() === "dark" ? "Dark theme" : "Light theme"; };
    show();
    dark.addEventListener("change", show);
    button.addEventListener("click", () => {
      root.dataset.theme = other();
      try { localStorage.setItem("theme", root.dataset.theme); } catch { /* the theme holds for this view */ }
      show();
    });
  }

  // A part of the view that the server sends again when it changed. It waits while somebody works in that part.
  function live(mark) {
    const part = document.getElementById(mark.dataset.into);
    const source = new EventSource(mark.dataset.live);
    source.onopen = () => { mark.classList.add("on"); tell(""); };
    source.onerror = () => { mark.classList.remove("on"); if (part.isConnected) tell(LOST); };
    source.onmessage = (event) => {
      if (!part.isConnected) { source.close(); return; }
      if (part.contains(document.activeElement)) return;
      part.innerHTML = event.data;
      htmx.process(part);
    };
    addEventListener("pagehide", () => source.close());
  }

  // The slider stands for the ends of months; its last place means now.
  function slider(box) {
    const months = box.dataset.slider.split(" ");
    const range = box.querySelector("input");
    const date = document.getElementById(range.dataset.for);
    const end = (month) => {
      const [year, number] = month.split("-").map(Number);
      return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10);
    };
    const place = () => months.findIndex((month) => date.value !== "" && end(month) >= date.value);
    const follow = () => { range.value = place() < 0 ? months.length : place(); words(); };
    const shown = box.querySelector("[data-shown]");
    const words = () => {
      const day = date.value && new Date(date.value).toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
      shown.textContent = day || "now";
      range.setAttribute("aria-valuetext", day || "now");
    };
    box.hidden = false;
    follow();
    range.addEventListener("input", () => {
      const month = months[Number(range.value)];
      date.value = month ? end(month) : "";
      words();
    });
    date.addEventListener("change", follow);
  }

  // A dropped file is sent at once.
  function upload(form) {
    const file = form.querySelector("input[type=file]");
    const over = (is) => (event) => { event.preventDefault(); form.classList.toggle("over", is); };
    form.addEventListener("dragover", over(true));
    form.addEventListener("dragleave", over(false));
    form.addEventListener("drop", (event) => {
      over(false)(event);
      if (event.dataTransfer.files.length === 0) return;
      file.files = event.dataTransfer.files;
      form.requestSubmit();
    });
    const bar = form.querySelector("progress");
    form.addEventListener("htmx:xhr:progress", ({ detail }) => { bar.hidden = false; bar.value = (detail.loaded / detail.total) * 100; });
    form.addEventListener("htmx:afterRequest", () => { bar.hidden = true; });
  }

  // Every form goes through htmx, so that what goes wrong is said in one place and what was typed stays.
  function sent(form) {
    const how = { ["hx-" + form.method]: form.getAttribute("action"), "hx-target": "#main", "hx-select": "#main", "hx-swap": "outerHTML", "hx-sync": "this:drop" };
    for (const [name, value] of Object.entries(how)) form.setAttribute(name, value);
    htmx.process(form);
  }

  // The answer to a form may be a view of another address: the browser goes there.
  function arrive(event) {
    const { target, xhr, requestConfig, shouldSwap } = event.detail;
    if (target.id !== "main" || !shouldSwap) return;
    const [at, asked] = [xhr.responseURL, requestConfig.path].map((address) => new URL(address, location.href).pathname);
    event.detail.shouldSwap = requestConfig.verb !== "get" && (at === asked || at === location.pathname);
    if (!event.detail.shouldSwap) location.href = xhr.responseURL;
    else if (at === asked) scrollTo(0, 0);
  }

  const SLOW = 5;
  const LOST = "The server does not answer. What you typed is still here: start the server with quipu serve, and try again.";
  // What failed, and how to ask for it again; without that, the browser itself tries again.
  function tell(words, again = null) {
    const box = document.getElementById("trouble");
    box.querySelector("span").textContent = words;
    const button = box.querySelector("button");
    button.hidden = !again;
    button.onclick = () => { again(); };
    box.hidden = !words;
  }

  function watch(body) {
    let late;
    const again = ({ elt, requestConfig: { triggeringEvent: event } }) => () => {
      htmx.trigger(elt, "htmx:abort");
      tell("");
      if (event.submitter) event.submitter.click();
      else event.target.dispatchEvent(new event.constructor(event.type, event));
    };
    let asked;
    const wait = () => {
      clearTimeout(late);
      late = setTimeout(() => tell(`The server has not answered for ${SLOW} seconds. It may still do so: wait, or try again.`, again(asked)), SLOW * 1000);
    };
    body.addEventListener("htmx:beforeSend", ({ detail }) => { asked = detail; wait(); });
    body.addEventListener("htmx:xhr:progress", wait);
    body.addEventListener("htmx:afterRequest", ({ detail }) => {
      clearTimeout(late);
      const { status, responseText } = detail.xhr;
      if (detail.successful) return tell("");
      const reason = () => new DOMParser().parseFromString(responseText, "text/html").querySelector("[role=alert]:not([hidden])")?.textContent;
      tell(status === 0 ? LOST : `Not done: ${reason() ?? `the server answered with status ${status}`} What you typed is still here.`, again(detail));
    });
  }

  function grow(area) {
    const fit = () => { area.rows = Math.min(24, Math.max(3, area.value.split("\n").reduce((rows, line) => rows + 1 + Math.floor(line.length / 70), 0))); };
    area.addEventListener("input", fit);
    fit();
  }

  // The focus is in a part that is replaced now. A part that somebody else's work replaced takes no focus.
  let isLost = false;
  const leave = (event) => { isLost = event.detail.target.contains(document.activeElement) && document.activeElement !== document.body; };

  // After a part was replaced, the keyboard goes on where the work was.
  function follow(event) {
    const part = event.detail.elt;
    if (part !== document.body) begin(part);
    const isAt = (what) => isLost && document.activeElement === document.body && part.matches?.(what);
    if (isAt("article.card")) part.querySelector(".notice button, .actions a")?.focus();
    if (isAt("main")) part.focus({ preventScroll: true });
    const said = part === document.body ? null : part.querySelector?.(".notice[role=status] span");
    if (said) say(said.textContent);
  }

  function begin(within) {
    const each = (what, work) => within.querySelectorAll(what).forEach(work);
    each("[data-theme-switch]", themeSwitch);
    each("[data-live]", live);
    each("[data-slider]", slider);
    each("[data-upload]", upload);
    each("form:not([hx-get], [hx-post], .whose)", sent);
    each("[data-grow]", grow);
    each("[data-send]", (select) => select.addEventListener("change", () => select.form.submit()));
    each("[data-end]", (box) => { box.scrollLeft = box.scrollWidth; });
  }

  addEventListener("DOMContentLoaded", () => {
    begin(document);
    document.querySelector("nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
    watch(document.body);
    document.body.addEventListener("htmx:beforeSwap", arrive);
    document.body.addEventListener("htmx:beforeSwap", leave);
    document.body.addEventListener("htmx:load", follow);
  });

  // "/" goes to the search, as elsewhere.
  addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("input, textarea, select");
    const search = document.getElementById("q");
    if (event.key === "/" && !typing && search && !event.ctrlKey && !event.metaKey) { event.preventDefault(); search.focus(); }
  });
})();
