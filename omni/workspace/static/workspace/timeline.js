// A run's timeline while it grows: entries come rendered from the server and are only put in
// their place; pieces of an answer grow a draft until the answer itself takes over.

const NEAR = 160;
const AGAIN = 2000;
const LONGEST = 60000;
const SPEAK = 700;
let following = null;
let said = [];
let speaking = 0;

const root = () => document.getElementById("timeline");

function scroller() {
  const main = document.getElementById("main");
  return main.scrollHeight > main.clientHeight + 1 ? main : document.scrollingElement;
}

function isAtEnd() {
  const box = scroller();
  return box.scrollHeight - box.scrollTop - box.clientHeight < NEAR;
}

function say(text) {
  if (!text) return;
  said.push(text);
  clearTimeout(speaking);
  speaking = setTimeout(() => {
    document.dispatchEvent(new CustomEvent("omni:announce", { detail: said.join(". ") }));
    said = [];
  }, SPEAK);
}

function draft(timeline, message) {
  const drafts = timeline.querySelector("[data-drafts]");
  const known = [...drafts.children].find((each) => each.dataset.message === message);
  if (known) return known;
  const template = timeline.querySelector("[data-draft-template]");
  const made = template.content.firstElementChild.cloneNode(true);
  made.dataset.message = message;
  drafts.append(made);
  return made;
}

function grow(timeline, { message, text }) {
  const place = draft(timeline, message).querySelector(".bubble-text");
  if (place.lastChild?.nodeType === Node.TEXT_NODE) place.lastChild.appendData(text);
  else place.append(text);
}

function add(timeline, { html, message, approval }) {
  const holder = document.createElement("template");
  holder.innerHTML = html;
  const entry = holder.content.firstElementChild;
  if (message) {
    [...timeline.querySelectorAll("[data-drafts] > *")]
      .filter((each) => each.dataset.message === message)
      .forEach((each) => each.remove());
  }
  timeline.querySelector(".events-none")?.remove();
  timeline.querySelector("[data-events]").append(holder.content);
  window.htmx.process(entry);
  const panel = approval && document.getElementById(`approval-${approval}`);
  if (panel && !entry.contains(panel)) window.htmx.trigger(panel, "news");
}

function refreshSummary() {
  const summary = document.getElementById("run-summary");
  if (summary) window.htmx.trigger(summary, "news");
}

function note(timeline, text) {
  const place = timeline.querySelector("[data-follow-state]");
  place.textContent = text;
  place.hidden = !text;
}

class Follower {
  constructor(timeline) {
    this.timeline = timeline;
    this.upto = Number(timeline.dataset.upto);
    this.wait = AGAIN;
    this.connect();
  }

  connect() {
    const url = new URL(this.timeline.dataset.follow, location.origin);
    url.searchParams.set("after", this.upto);
    this.source = new EventSource(url);
    for (const name of ["entry", "piece", "position"]) {
      this.source.addEventListener(name, (message) => this.take(name, message));
    }
    this.source.addEventListener("end", () => this.end());
    this.source.addEventListener("revoked", () => this.stop("You may not read this run any more."));
    this.source.addEventListener("open", () => {
      this.wait = AGAIN;
      note(this.timeline, "");
    });
    this.source.addEventListener("error", () => this.lost());
  }

  take(name, message) {
    const seq = Number(message.lastEventId);
    if (seq <= this.upto) return;
    this.upto = seq;
    this.timeline.dataset.upto = seq;
    const about = JSON.parse(message.data);
    const stick = isAtEnd();
    if (name === "piece") grow(this.timeline, about);
    else if (name === "entry") add(this.timeline, about);
    if (about.changes) refreshSummary();
    say(about.say);
    if (stick && name !== "position") scroller().scrollTop = scroller().scrollHeight;
  }

  end() {
    this.timeline.dataset.ended = "";
    this.timeline.removeAttribute("data-follow");
    this.stop("");
    refreshSummary();
  }

  lost() {
    note(this.timeline, "Connection lost; trying again …");
    if (this.source.readyState !== EventSource.CLOSED) return;
    this.retry = setTimeout(() => this.connect(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST);
  }

  stop(text) {
    this.source.close();
    clearTimeout(this.retry);
    note(this.timeline, text);
  }
}

function arrange() {
  const timeline = root();
  const wanted = timeline?.dataset.follow && !document.hidden ? timeline : null;
  if (following && following.timeline !== wanted) {
    following.stop("");
    following = null;
  }
  if (wanted && !following) following = new Follower(wanted);
}

// An answered question loses its form, and with it the focus.
document.addEventListener("htmx:afterSwap", (event) => {
  const { target, requestConfig } = event.detail;
  if (!target.classList?.contains("approval") || requestConfig.verb !== "post") return;
  target.focus();
});

document.addEventListener("visibilitychange", arrange);
document.addEventListener("htmx:afterSettle", arrange);
document.addEventListener("htmx:historyRestore", arrange);
addEventListener("pagehide", () => { following?.stop(""); following = null; });
addEventListener("pageshow", arrange);
arrange();

// In the composer, Ctrl or Command with Enter sends.
document.addEventListener("keydown", (event) => {
  const isSend = event.key === "Enter" && (event.ctrlKey || event.metaKey);
  const form = isSend && event.target.closest?.(".composer form");
  if (form) form.requestSubmit();
});
