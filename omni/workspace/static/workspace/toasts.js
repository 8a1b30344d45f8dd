// Short messages; a server sends one with Django's messages or `HX-Trigger: {"toast": …}`.

const LIFE = 7000;
const LEVELS = ["success", "info", "warning", "error"];

function dismissLater(toast) {
  if (toast.dataset.timed || toast.classList.contains("toast-error")) return;
  toast.dataset.timed = "yes";
  let timer = setTimeout(() => toast.remove(), LIFE);
  toast.addEventListener("pointerenter", () => clearTimeout(timer));
  toast.addEventListener("pointerleave", () => { timer = setTimeout(() => toast.remove(), LIFE); });
}

function watch() {
  document.querySelectorAll("[data-toast]").forEach(dismissLater);
}

document.addEventListener("toast", (event) => {
  const { level = "info", text = "" } = event.detail ?? {};
  const toast = document.getElementById("toast-template").content.firstElementChild.cloneNode(true);
  toast.className = `toast toast-${LEVELS.includes(level) ? level : "info"}`;
  toast.querySelector("p").textContent = text;
  const icon = { success: "check", info: "info" }[level] ?? "alert";
  const use = toast.querySelector(".icon use");
  use.setAttribute("href", use.getAttribute("href").replace(/#.*/, `#${icon}`));
  document.getElementById("toasts").append(toast);
  dismissLater(toast);
});

document.addEventListener("click", (event) => {
  event.target.closest("[data-toast-close]")?.closest("[data-toast]").remove();
});

document.addEventListener("htmx:afterSettle", watch);
watch();
