// The command palette: Ctrl-K, type, arrows, Enter.

const palette = () => document.getElementById("palette");
const input = () => palette().querySelector("input");
const options = () => [...palette().querySelectorAll("a[role=option]")];

function select(index) {
  const all = options();
  if (all.length === 0) {
    input().removeAttribute("aria-activedescendant");
    return;
  }
  const wanted = (index + all.length) % all.length;
  all.forEach((option, at) => option.setAttribute("aria-selected", String(at === wanted)));
  all[wanted].scrollIntoView({ block: "nearest" });
  input().setAttribute("aria-activedescendant", all[wanted].id);
}

function selected() {
  return options().findIndex((option) => option.getAttribute("aria-selected") === "true");
}

function open() {
  if (!palette() || palette().open) return;
  document.querySelector("dialog[open]")?.close();
  input().value = "";
  palette().showModal();
  input().focus();
  window.htmx.trigger(input(), "palette:open");
}

function act(option) {
  palette().close();
  document.dispatchEvent(new CustomEvent(`omni:${option.dataset.action}`));
}

document.addEventListener("omni:palette", open);

document.addEventListener("click", (event) => {
  const option = event.target.closest("#palette a[role=option]");
  if (option?.dataset.action) {
    event.preventDefault();
    event.stopPropagation();
    act(option);
  } else if (option) {
    palette().close();
  } else if (event.target.closest("[data-palette-open]") && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    event.stopPropagation();
    open();
  }
}, { capture: true });

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    if (palette()?.open) palette().close();
    else open();
    return;
  }
  if (!event.target.closest?.("#palette")) return;
  if (event.key === "ArrowDown") select(selected() + 1);
  else if (event.key === "ArrowUp") select(selected() - 1);
  else if (event.key === "Enter") options()[selected()]?.click();
  else return;
  event.preventDefault();
});

document.addEventListener("htmx:afterSwap", (event) => {
  if (event.detail.target.id === "palette-results") select(0);
});

if (/Mac|iPhone|iPad/.test(navigator.platform)) {
  for (const key of document.querySelectorAll(".nav-search kbd")) key.textContent = "⌘ K";
}
