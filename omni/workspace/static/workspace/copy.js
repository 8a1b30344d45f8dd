// Buttons with data-copy="#id" copy that element's text; without JavaScript they stay hidden.

function show() {
  for (const button of document.querySelectorAll("[data-copy][hidden]")) button.hidden = false;
}

async function copy(button) {
  const source = document.querySelector(button.dataset.copy);
  try {
    await navigator.clipboard.writeText(source.textContent.trim());
    document.dispatchEvent(new CustomEvent("toast", { detail: { level: "success", text: "Copied." } }));
  } catch {
    getSelection().selectAllChildren(source);
    const text = "The browser does not allow copying here. The text is selected: press Ctrl C.";
    document.dispatchEvent(new CustomEvent("toast", { detail: { level: "warning", text } }));
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});
document.addEventListener("htmx:afterSettle", show);
show();
