// What htmx and HTML do not do: the theme, live views, dropped files, the slider through time. Everything works without it.
"use strict";
(() => {
  const root = document.documentElement;
  const THEMES = ["light", "dark"];
  const kept = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  // Without a choice, the theme is the system's.
  if (THEMES.includes(kept())) root.dataset.theme = kept();
  root.setAttribute("data-script", "");

  const say = (text) => { document.getElementById("said").textContent = text; };

  function themeSwitch(button) {
    const name = button.querySelector("[data-theme-name]");
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const other = () => ((root.dataset.theme ?? (dark.matches ? "dark" : "light")) === "dark" ? "light" : "dark");
    const show = () => { name.textContent = other() === "dark" ? "Dark theme" : "Light theme"; };
    button.hidden = false;
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
    source.onopen = () => mark.classList.add("on");
    source.onerror = () => mark.classList.remove("on");
    source.onmessage = (event) => {
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

  function upload(form) {
    const file = form.querySelector("input[type=file]");
    const bar = form.querySelector("progress");
    const button = form.querySelector("button");
    const over = (is) => (event) => { event.preventDefault(); form.classList.toggle("over", is); };
    form.addEventListener("dragover", over(true));
    form.addEventListener("dragleave", over(false));
    form.addEventListener("drop", (event) => {
      over(false)(event);
      if (event.dataTransfer.files.length === 0) return;
      file.files = event.dataTransfer.files;
      form.requestSubmit();
    });
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const request = new XMLHttpRequest();
      request.open("POST", form.action);
      request.upload.onprogress = (sent) => { bar.value = (sent.loaded / sent.total) * 100; };
      request.onload = () => {
        if (request.status < 400) { location.href = request.responseURL; return; }
        // A refusal is the same view with the reason.
        const view = new DOMParser().parseFromString(request.responseText, "text/html");
        document.getElementById("main").replaceWith(view.getElementById("main"));
        begin(document.getElementById("main"));
        say(view.querySelector("[role=alert]")?.textContent ?? "");
      };
      request.onerror = () => { bar.hidden = true; button.disabled = false; say("The upload did not arrive: try again."); };
      bar.hidden = false;
      button.disabled = true;
      say("Uploading " + file.files[0].name);
      request.send(new FormData(form));
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
    part.querySelectorAll?.("[data-grow]").forEach(grow);
    const next = isLost && document.activeElement === document.body && part.matches?.("article.card") ? part.querySelector(".notice button, .actions a") : null;
    if (next) next.focus();
    const said = part === document.body ? null : part.querySelector?.(".notice[role=status] span");
    if (said) say(said.textContent);
  }

  function begin(within) {
    const each = (what, work) => within.querySelectorAll(what).forEach(work);
    each("[data-theme-switch]", themeSwitch);
    each("[data-live]", live);
    each("[data-slider]", slider);
    each("[data-upload]", upload);
    each("[data-grow]", grow);
    each("[data-send]", (select) => select.addEventListener("change", () => select.form.submit()));
    // On a phone, memories come before what narrows them.
    if (matchMedia("(max-width: 47.99rem)").matches) each("[data-fold]", (box) => { box.open = false; });
    each("[data-end]", (box) => { box.scrollLeft = box.scrollWidth; });
  }

  addEventListener("DOMContentLoaded", () => {
    begin(document);
    document.querySelector("nav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
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
