// Parts of a page with data-stream="/address" are told “news” when that stream says something.
// A tab that nobody sees holds no connection: browsers allow only a few to one server.

const NAMES = ["snapshot", "run", "approval"];
const GATHER = 300;
const AGAIN = 15000;
const open = new Map();

const parts = () => [...document.querySelectorAll("[data-stream]")];

function tell(url) {
  for (const part of parts()) {
    if (part.dataset.stream === url) window.htmx.trigger(part, "news");
  }
}

function start(url) {
  const stream = { source: new EventSource(url), timer: 0 };
  // Also at the first snapshot: something may have happened since the page was made.
  const hear = () => {
    clearTimeout(stream.timer);
    stream.timer = setTimeout(() => tell(url), GATHER);
  };
  for (const name of NAMES) stream.source.addEventListener(name, hear);
  stream.source.addEventListener("revoked", () => close(url));
  stream.source.addEventListener("error", () => {
    if (stream.source.readyState !== EventSource.CLOSED) return;
    close(url);
    setTimeout(arrange, AGAIN);
  });
  open.set(url, stream);
}

function close(url) {
  const stream = open.get(url);
  if (!stream) return;
  clearTimeout(stream.timer);
  stream.source.close();
  open.delete(url);
}

function arrange() {
  const wanted = new Set(document.hidden ? [] : parts().map((part) => part.dataset.stream));
  for (const url of [...open.keys()]) if (!wanted.has(url)) close(url);
  for (const url of wanted) if (!open.has(url)) start(url);
}

document.addEventListener("visibilitychange", arrange);
document.addEventListener("htmx:afterSettle", arrange);
document.addEventListener("htmx:historyRestore", arrange);
addEventListener("pagehide", () => [...open.keys()].forEach(close));
addEventListener("pageshow", arrange);
arrange();
