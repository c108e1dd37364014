#!/usr/bin/env node
// Uses every view of the page in a real browser: scripts/page/check.mjs QUIPU [SHOTS]. Screenshots go to SHOTS, else to .tools/page/shots.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Stage, axe, browser, tab, talk } from "./stage.mjs";

const binary = process.argv[2] ?? "target/debug/quipu";
const shots = process.argv[3] ?? ".tools/page/shots";
const MANY = Number(process.env.MANY ?? 10_000);
const complaints = [];
const failures = [];
const expect = (holds, words) => { if (!holds) { failures.push(words); console.log("  NOT: " + words); } };
const step = (words) => console.log(words);

rmSync(shots, { recursive: true, force: true });
mkdirSync(shots, { recursive: true });
const stage = await Stage.open(binary);
const chromium = await browser();
const page = await tab(chromium, complaints);
const open = (path) => page.goto(stage.base + path, { waitUntil: "load" });
const text = () => page.$eval("main", (main) => main.innerText);
const until = (words, within = "main") => page.waitForFunction((words, within) => document.querySelector(within).innerText.includes(words), { timeout: 20_000 }, words, within);
const press = async (selector, words) => {
  const found = await page.evaluateHandle((selector, words) => [...document.querySelectorAll(selector)].find((one) => one.textContent.includes(words) && one.checkVisibility()), selector, words);
  if (!found.asElement()) throw new Error(`no ${selector} with "${words}" at ${page.url()}`);
  await found.asElement().click();
};

async function emptyViews() {
  step("an empty server says what to do in every view");
  for (const [path, words] of [
    ["/", "/v1"], ["/page/memories", "Import an export"], ["/page/conversations", "/v1"], ["/page/skills", "quipu init"],
    ["/page/documents", "No document yet"], ["/page/import", "Export data"], ["/page/health", "Everything works"], ["/page/background", "No run yet"],
  ]) {
    await open(path);
    expect((await text()).includes(words), `${path} says "${words}"`);
    const wrong = await axe(page);
    expect(wrong.length === 0, `axe, empty ${path}: ${wrong.join("; ")}`);
  }
  await page.setViewport({ width: 1280, height: 900 });
  await open("/");
  await page.screenshot({ path: join(shots, "empty.png"), fullPage: true });
}

async function fill() {
  step("an export is dropped and becomes memory");
  const lines = readFileSync("scripts/page/talk.jsonl", "utf8");
  const file = join(stage.root, "maya.jsonl");
  writeFileSync(file, lines);
  await open("/page/import?who=default/default/maya");
  await (await page.$("input[type=file]")).uploadFile(file);
  await press("button", "Import");
  await until("See the memories");
  expect(/\d+ messages/.test(await text()), "the import counts its messages");
  await Promise.all([page.waitForNavigation(), press("a", "See the memories")]);
  await until("Porto");
  step("conversations through the proxy appear while the view is open");
  await open("/?who=default/default/maya");
  await page.waitForSelector(".live.on");
  await talk(stage, "maya", ["Where could we go for a weekend? Remember where I live.", "By train, please. My dog comes along.", "And somewhere quiet, I am allergic to peanuts.", "Great, plan it for the first weekend of May."]);
  await until("weekend-in-the-douro", "#live");
  expect((await text()).includes("%"), "the cache's share is shown");
  await open("/page/conversations?who=default/default/maya");
  const listed = await text();
  expect(/dog/i.test(listed) && /through Quipu/.test(listed) && !/px-/.test(listed), "imported and live conversations stand in one list, by title");
  step("documents are uploaded");
  for (const document of ["docs/import.md", "docs/security.md"]) {
    await open("/page/documents?who=default/default/maya");
    await (await page.$("input[type=file]")).uploadFile(document);
    await Promise.all([page.waitForNavigation(), press("button", "Upload")]);
    await until("topics");
  }
  await stage.post("/api/v2/memory/add", { session_id: "agents", messages: [{ sender_id: "coder", role: "assistant", timestamp: Date.now(), content: "done" }] });
}

async function searchEditUndoForget() {
  const pause = () => new Promise((done) => setTimeout(done, 700));
  step("search as you type, with reasons");
  await open("/page/memories?who=default/default/maya");
  await page.keyboard.press("/");
  await page.keyboard.type("where is her home", { delay: 15 });
  // The results of the first letters are replaced as more are typed: the address follows the last ones.
  await page.waitForFunction(() => new URLSearchParams(location.search).get("q") === "where is her home", { timeout: 20_000 });
  await until(" match, with the word", "#results");
  await until("Porto", "#results");
  // The results of the last letters may replace those whose reason was opened.
  for (let tries = 0; tries < 20 && !(await page.$("details[open] .bars dt")); tries += 1) {
    await press("summary", "Why");
    await pause();
  }
  expect((await page.$$eval("details[open] .bars dt", (all) => all.length)) > 0, "the reason has parts");
  await page.screenshot({ path: join(shots, "search.png"), fullPage: true });

  // The history has it before the corrections below.
  const statement = { action: "add", type: "explicit_info", data: { category: "Work", description: 'Maya says: "My manager is Teresa, she is wonderful".' } };
  const { results } = await stage.post("/api/v2/memory/edit", { user_id: "maya", operations: [statement] });

  step("whoever works in the search keeps the focus while results come");
  const focused = () => page.evaluate(() => document.activeElement.id);
  const at = (name) => page.evaluate((name) => new URLSearchParams(location.search).get(name), name);
  const asked = "where is her home now";
  await open("/page/memories?who=default/default/maya");
  await page.click("#q");
  await page.keyboard.type(asked, { delay: 250 });
  await pause();
  expect((await page.$eval("#q", (input) => input.value)) === asked, `slow typing arrives whole: ${await page.$eval("#q", (input) => input.value)}`);
  expect((await focused()) === "q", `slow typing keeps the focus: ${await focused()}`);
  expect((await page.evaluate(() => scrollY)) === 0, "and does not scroll");
  await open("/page/memories?who=default/default/maya");
  await page.focus("#slider");
  for (let presses = 1; presses <= 3; presses += 1) {
    await page.keyboard.press("ArrowLeft");
    await pause();
    expect((await focused()) === "slider", `the slider keeps the focus: ${await focused()}`);
    const { value, max } = await page.$eval("#slider", ({ value, max }) => ({ value: Number(value), max: Number(max) }));
    expect(value === max - presses, `the slider moves by one month: ${value} of ${max}`);
  }
  expect(/\d{4}/.test(await page.$eval(".slider [data-shown]", (shown) => shown.textContent)), "the slider names its date");
  await open("/page/memories?who=default/default/maya");
  await page.focus("#kind");
  for (const kind of ["fact", "episode"]) {
    await page.keyboard.press("ArrowDown");
    await pause();
    expect((await at("kind")) === kind, `the select chooses ${kind}: ${await at("kind")}`);
    expect((await focused()) === "kind", `the select keeps the focus: ${await focused()}`);
  }

  step("what nothing has is said, and what is less sure is folded");
  await open("/page/memories?who=default/default/maya&q=zzgrumbl");
  await until("Nothing has the word \u201czzgrumbl\u201d", "#results");
  expect((await page.$$eval("#results > .ticked", (all) => all.length)) <= 5, "few similar ones stand open");
  await press("summary", "Less sure");
  await page.screenshot({ path: join(shots, "less-sure.png"), fullPage: true });

  step("the slider goes through time");
  await page.$eval("#slider", (slider) => { slider.value = "0"; slider.dispatchEvent(new Event("input", { bubbles: true })); slider.dispatchEvent(new Event("change", { bubbles: true })); });
  await page.waitForFunction(() => location.search.includes("as_of=2025"), { timeout: 10_000 });
  await until("Lisbon", "#results");
  expect(!(await page.$eval("#results", (all) => all.innerText)).includes("moved to Porto"), "in the beginning she had not moved");

  step("edit in place, undo");
  await open("/page/memories?who=default/default/maya&q=manager");
  const card = await page.$("article.card .said");
  const before = await card.evaluate((one) => one.innerText);
  await press("article.card .actions a", "Edit");
  await page.waitForSelector("article.card textarea");
  await page.waitForFunction(() => document.activeElement.tagName === "TEXTAREA", { timeout: 2_000 });
  await page.$eval("article.card textarea", (area) => { area.value = "Maya's manager is Teresa Lopes."; });
  await press("article.card button", "Save");
  await until("Teresa Lopes");
  await until("Saved.");
  await page.screenshot({ path: join(shots, "saved.png") });
  expect(await page.evaluate(() => document.activeElement.textContent === "Undo"), "after a save, the keyboard stands on its undo");
  await press("article.card .notice button", "Undo");
  await until("Taken back.");
  await until(before);

  step("a correction is yours");
  await open("/page/memories?who=default/default/maya&q=manager&kind=fact");
  const corrected = await page.$eval("article.card .said a", (link) => link.getAttribute("href"));
  await open(`${corrected}&edit=1`);
  await page.$eval("textarea", (area) => { area.value = "Maya's manager is Inês Rocha."; });
  await press("button", "Save");
  await until("Saved.");
  await until(`The profile of maya still says: \u201c${before}\u201d`);
  // Its sources say so without a new visit.
  await until("You corrected this on ");
  await page.screenshot({ path: join(shots, "still-says.png") });
  await press("button", "Change it too");
  await until("Agents get the new line");
  await open(corrected);
  expect(/You corrected this on \d+ \w+ \d{4}\. *\s*Before that it came from/.test(await text()), "a corrected fact says so before its source");
  expect(/History\s+You/.test(await text()), "the history names you");
  await page.screenshot({ path: join(shots, "corrected.png"), fullPage: true });
  await open(`/page/memory/${results[0].new_item_id}?who=default/default/maya`);
  await press("button", "Restore these words");
  await until(before);
  const isRestored = () => !document.querySelector("main").innerText.includes("corrected this");
  expect(await page.waitForFunction(isRestored, { timeout: 20_000 }).catch(() => false), "restored words are no correction");
  await open("/page/memories?who=default/default/maya&q=manager&kind=profile");
  await until("with the word manager", "#results");

  step("one memory: its source, its reach, its history");
  await open("/page/memories?who=default/default/maya&q=allergic");
  await Promise.all([page.waitForNavigation(), press("article.card .said a", "allergic")]);
  expect((await page.$$eval("blockquote", (all) => all.length)) > 0, "the words behind it are shown");
  await page.screenshot({ path: join(shots, "memory.png"), fullPage: true });

  step("forget, with a look first");
  await Promise.all([page.waitForNavigation(), press("a", "Forget this memory")]);
  await until("This goes");
  await page.screenshot({ path: join(shots, "forget.png"), fullPage: true });
  await press("button", "Forget for good");
  await until("Forgotten");
  await open("/page/memories?who=default/default/maya&q=peanuts&kind=fact");
  expect(!(await text()).includes("allergic to peanuts."), "it is gone");

  step("what is believed is answered");
  await open("/page/memories?who=default/default/maya");
  await Promise.all([page.waitForNavigation(), press("a", "What Quipu believes")]);
  const believed = await page.$eval("article.card .said", (said) => said.innerText);
  await press("article.card button", "No longer");
  await until(`No longer so, from today: “${believed}”.`);
  const cards = await page.$$eval("article.card", (all) => all.map((one) => one.innerText));
  expect(cards.some((card) => card.includes(believed) && card.includes("No longer so")), `it stands as ended: ${cards.join(" | ")}`);
}

const WHO = "who=default/default/maya";

async function withoutServer() {
  step("the server is gone, slow or refuses in the middle of each act: it is said, nothing typed is lost, and it can be tried again");
  const own = [];
  const page = await tab(chromium, own);
  await page.setViewport({ width: 1280, height: 860 });
  const text = (within) => page.$eval(within, (one) => one.innerText);
  const until = (words, within = "main") => page.waitForFunction((words, within) => document.querySelector(within)?.innerText.includes(words), { timeout: 20_000 }, words, within);
  const press = (selector, words) => page.evaluate((selector, words) => [...document.querySelectorAll(selector)].find((one) => one.textContent.includes(words)).click(), selector, words);
  const show = (path) => page.goto(stage.base + path, { waitUntil: "load" });
  const gone = () => page.$eval("#trouble", (box) => box.hidden);
  // Each act: how it begins, the press that asks the server, what was typed, and what shows that it was done.
  const fact = await (async () => {
    await show(`/page/memories?${WHO}&kind=fact`);
    return page.$eval("article.card .said a", (link) => link.getAttribute("href"));
  })();
  const file = join(stage.root, "late.jsonl");
  writeFileSync(file, JSON.stringify({ role: "user", sender_id: "maya", content: "I water the ferns on Sundays." }));
  const type = async (selector, words) => { await page.$eval(selector, (area) => { area.value = ""; }); await page.type(selector, words); };
  const value = (selector) => page.$eval(selector, (area) => area.value);
  const acts = {
    save: { begin: async () => { await show(`${fact}&edit=1`); await type("textarea", "Maya keeps these very words."); }, act: () => press("button", "Save"), kept: async () => (await value("textarea")) === "Maya keeps these very words.", done: () => until("Saved.") },
    undo: { begin: async () => {}, act: () => press(".notice button", "Undo"), kept: async () => (await text("main")).includes("Maya keeps these very words."), done: () => until("Taken back.") },
    search: { begin: async () => { await show(`/page/memories?${WHO}`); await page.focus("#q"); }, act: () => page.keyboard.type("where is her home"), kept: async () => (await value("#q")) === "where is her home", done: () => until("Porto", "#results") },
    "search from Now": { begin: async () => { await show(`/?${WHO}`); await type("#q", "greyhound"); }, act: () => page.keyboard.press("Enter"), kept: async () => (await value("#q")) === "greyhound", done: () => until("Biscuit", "#results") },
    import: { begin: async () => { await show(`/page/import?${WHO}`); await (await page.$("input[type=file]")).uploadFile(file); }, act: () => press("button", "Import"), kept: () => page.$eval("input[type=file]", (input) => input.files.length === 1), done: () => until("See the memories", "#imports-live") },
    forget: { begin: async () => { await show(`/page/forget?${WHO}&words=ferns`); await until("ferns"); }, act: () => press("form button", "Show what goes"), kept: async () => (await text("main")).includes("ferns"), done: () => until("Forget for good") },
    "forget for good": { begin: async () => {}, act: () => press("form button", "Forget for good"), kept: async () => (await text("main")).includes("ferns"), done: () => until("Forgotten") },
  };
  for (const [name, { begin, act, kept, done }] of Object.entries(acts)) {
    await begin();
    await stage.kill();
    await act();
    await until("The server does not answer", "#trouble");
    expect(await kept(), `${name}: what was typed is there without a server`);
    expect((await axe(page)).length === 0, `axe, ${name} without a server`);
    if (name === "save") await page.screenshot({ path: join(shots, "no-server.png") });
    await stage.again();
    await press("#trouble button", "Try again");
    await done();
    expect(await gone(), `${name}: the trouble goes with the answer`);
  }
  step("a server that takes its time is said to, and may still answer");
  await show(`${fact}&edit=1`);
  await type("textarea", "Maya waits for this.");
  stage.server.kill("SIGSTOP");
  await press("button", "Save");
  await until("has not answered", "#trouble");
  expect((await value("textarea")) === "Maya waits for this.", "slow: what was typed is there");
  stage.server.kill("SIGCONT");
  await until("Saved.");
  expect(await gone(), "slow: the answer takes the trouble away");
  step("what the server refuses, such as for a full disk, is said in its words");
  await show(`${fact}&edit=1`);
  await type("textarea", "Maya has no room.");
  await page.setRequestInterception(true);
  const full = (request) => (request.method() === "POST" ? request.respond({ status: 507, contentType: "text/html", body: "<p role=alert>the disk is full: free some space</p>" }) : request.continue());
  page.on("request", full);
  await press("button", "Save");
  await until("the disk is full", "#trouble");
  expect((await value("textarea")) === "Maya has no room.", "full: what was typed is there");
  page.off("request", full);
  await page.setRequestInterception(false);
  await press("#trouble button", "Try again");
  await until("Saved.");
  await press(".notice button", "Undo");
  await until("Taken back.");
  await page.close();
}

async function background() {
  step("background work is told in people's words, and what waits is the same number everywhere");
  await open(`/page/background?${WHO}`);
  expect(new URL(page.url()).pathname === "/" && new URL(page.url()).hash === "#background", `the old address leads to its part: ${page.url()}`);
  const told = await text();
  expect(/Planned: [^\n]*\d/.test(told), "what is planned has its time");
  expect(/Bring the profile up to date|Note upcoming events/.test(told), "runs have names");
  expect(!/extract.|\* \*|ep_\d/.test(told), "no schedule and no id");
  const waiting = async (path, pattern) => { await open(path); return pattern.exec(await text())?.[1]; };
  const now = await waiting(`/?${WHO}`, /(\d+) tasks? waiting/);
  const health = await waiting(`/page/health?${WHO}`, /Waiting\s+(\d+)\s+task/);
  expect(now !== undefined && now === health, `Now and Health count the same: ${now}, ${health}`);
}

async function looks() {
  step("every view, both themes, three widths: axe, no complaint, nothing wider than the screen");
  await open(`/page/memories?${WHO}`);
  const memory = await page.$eval("article.card .said a, article.card h3 a", (link) => link.getAttribute("href"));
  await open(`/?${WHO}`);
  const talkAt = await page.$eval("#live h3 a", (link) => link.getAttribute("href"));
  await open(`/page/documents?${WHO}`);
  const document_ = await page.$eval("main .list a", (link) => link.getAttribute("href"));
  const change = await (async () => {
    await open(`/page/background?${WHO}`);
    return page.$eval("a[href^='/page/change/']", (link) => link.getAttribute("href")).catch(() => null);
  })();
  const views = {
    now: `/?${WHO}`, memories: `/page/memories?${WHO}`, found: `/page/memories?${WHO}&q=where+does+she+live&standing=all`, memory, editing: `${memory}&edit=1`,
    forget: `/page/forget?${WHO}&all=1`, given: `/page/given?${WHO}`, review: `/page/review?${WHO}`, conversations: `/page/conversations?${WHO}`, conversation: talkAt,
    skills: `/page/skills?${WHO}`, documents: `/page/documents?${WHO}`, document: document_, import: `/page/import?${WHO}`,
    "sign-in": "/page/sign-in", nowhere: "/page/nowhere",
  };
  if (change) views.change = change;
  for (const theme of ["light", "dark"]) {
    await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }]);
    for (const width of [360, 1280, 2560]) {
      await page.setViewport({ width, height: width === 360 ? 740 : width === 1280 ? 860 : 1440 });
      for (const [name, path] of Object.entries(views)) {
        await open(path);
        if (width === 360) {
          const shift = await page.evaluate(() => new Promise((done) => {
            let sum = 0;
            new PerformanceObserver((list) => list.getEntries().forEach((entry) => { sum += entry.value; })).observe({ type: "layout-shift", buffered: true });
            setTimeout(() => done(sum), 200);
          }));
          expect(shift < 0.05, `${name}: nothing moves while the view loads: ${shift.toFixed(2)}`);
        }
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(overflow <= 0, `${name} at ${width}: ${overflow} px wider than the screen`);
        const wrong = await axe(page);
        expect(wrong.length === 0, `axe, ${name} ${theme} ${width}: ${wrong.join("; ")}`);
        await page.screenshot({ path: join(shots, `${name}-${theme}-${width}.png`), fullPage: width !== 2560 });
        if (width !== 360) continue;
        const header = await page.$eval(".side", (side) => side.offsetHeight);
        expect(header < 200, `${name}: the header has its own height on a phone: ${header}`);
        if (name !== "memories") continue;
        const first = await page.$eval("article.card", (card) => card.getBoundingClientRect().bottom);
        expect(first < 740, `a whole memory is on a phone's first screen: it ends at ${Math.round(first)}`);
        await page.screenshot({ path: join(shots, `first-screen-${theme}.png`) });
      }
    }
  }
  step("the switch of the theme changes what is seen, and holds on the next view");
  await page.setViewport({ width: 1280, height: 860 });
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
  await open(`/?${WHO}`);
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await press("[data-theme-switch]", "Dark theme");
  expect((await ground()) !== light, "the first press shows");
  await open(`/page/memories?${WHO}`);
  expect(await page.evaluate(() => document.documentElement.dataset.theme === "dark"), "dark stays");
  step("the keyboard reaches the content first, and everything after it");
  await page.keyboard.press("Tab");
  expect(await page.evaluate(() => document.activeElement.classList.contains("skip")), "the first stop skips to the content");
  const stops = new Set();
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press("Tab");
    stops.add(await page.evaluate(() => document.activeElement.getAttribute("name") ?? document.activeElement.textContent.trim()));
  }
  for (const stop of ["q", "kind", "standing", "as_of", "Edit", "Forget"]) expect(stops.has(stop), `the keyboard reaches ${stop}`);
}

async function figures() {
  step(`the weight of a view, and its first paint with ${MANY} memories`);
  const started = performance.now();
  for (let from = 0; from < MANY; from += 500) {
    const at = (n) => Date.UTC(2024, 0, 1) + n * 3_600_000;
    const messages = Array.from({ length: Math.min(500, MANY - from) }, (_, n) => ({ sender_id: "many", role: "user", timestamp: at(from + n), content: `I like the book number ${from + n} of shelf ${(from + n) % 97}.` }));
    await stage.post("/api/v2/memory/add", { session_id: `shelf-${from}`, messages, defer_extraction: true });
    await stage.post("/api/v2/memory/flush", { session_id: `shelf-${from}`, wait: true });
  }
  const overview = await stage.post("/api/v2/memory/overview", { user_id: "many" });
  console.log(`  ${overview.facts} facts and ${overview.episodes} episodes in ${Math.round((performance.now() - started) / 1000)} s`);
  const fresh = await tab(chromium, complaints);
  const client = await fresh.createCDPSession();
  await client.send("Network.enable");
  let bytes = 0;
  client.on("Network.dataReceived", (event) => { bytes += event.dataLength; });
  const paints = [];
  for (let visit = 0; visit < 6; visit += 1) {
    await fresh.goto(stage.base + "/page/memories?who=default/default/many", { waitUntil: "load" });
    if (visit === 0) {
      console.log(`  weight with all it loads: ${bytes} bytes`);
      expect(bytes <= 150_000, `the weight is at most 150 kB: ${bytes}`);
    }
    paints.push(await fresh.evaluate(() => new Promise((done) => new PerformanceObserver((list) => list.getEntriesByName("first-contentful-paint").forEach((paint) => done(paint.startTime))).observe({ type: "paint", buffered: true }))));
  }
  const sorted = paints.slice(1).sort((a, b) => a - b);
  console.log(`  first paint: first visit ${Math.round(paints[0])} ms, then median ${Math.round(sorted[2])} ms, worst ${Math.round(sorted[4])} ms`);
  await fresh.close();
}

try {
  await page.setViewport({ width: 1280, height: 860 });
  await emptyViews();
  await fill();
  await searchEditUndoForget();
  await withoutServer();
  await background();
  await looks();
  if (MANY > 0) await figures();
} catch (error) {
  failures.push(String(error.stack ?? error));
  await page.screenshot({ path: join(shots, "failed.png") }).catch(() => {});
}
// The not-found view is answered with its status, which a console reports.
const real = complaints.filter((words) => !/status of 404/.test(words));
expect(real.length === 0, `no complaint of the browser: ${real.join("; ")}`);
// A view that listens is open: the server stops all the same.
await open(`/?${WHO}`).catch(() => {});
const took = await stage.close();
console.log(`  the server stopped in ${Math.round(took)} ms with a listening view open`);
expect(took < 3_000, `a listening view does not hold the server: ${Math.round(took)} ms`);
await chromium.close();
console.log(failures.length === 0 ? `all hold; screenshots in ${shots}` : `\n${failures.length} FAILED:\n${failures.join("\n")}`);
process.exit(failures.length === 0 ? 0 : 1);
