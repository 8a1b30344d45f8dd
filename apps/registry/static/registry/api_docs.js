"use strict";

// A file of its own: the content security policy allows no script inside a page.
(() => {
  const place = document.getElementById("api-docs");

  const cookie = (name) =>
    document.cookie.split("; ").find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);

  // Whoever is signed in to the workspace can try operations without a token.
  const withCsrfToken = (request) => {
    const token = cookie("omni_csrf");
    const own = new URL(request.url, location.href).origin === location.origin;
    if (token && own && !["GET", "HEAD"].includes((request.method || "GET").toUpperCase())) {
      request.headers["X-CSRFToken"] = token;
    }
    return request;
  };

  // The server knows a chosen theme; “as the system” is the browser's to answer.
  const page = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const follow = () => page.classList.toggle("dark-mode", dark.matches);
  if (page.dataset.theme === "auto") {
    follow();
    dark.addEventListener("change", follow);
  }

  window.SwaggerUIBundle({
    url: place.dataset.document,
    domNode: place,
    presets: [window.SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    docExpansion: "list",
    tryItOutEnabled: true,
    validatorUrl: null,
    requestInterceptor: withCsrfToken,
  });
})();
