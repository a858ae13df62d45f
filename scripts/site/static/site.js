// A click on a figure opens it alone, so that a phone can enlarge it. On a phone it slides
// sideways rather than have text below 12 pixels: a diagram's has 21 units, a chart's 12 points.
const keepReadable = (image) => {
  const text = image.src.endsWith(".svg") ? 21 : 12 * 100 / 72;
  image.style.setProperty("--readable", `${Math.ceil(image.naturalWidth * 12 / text)}px`);
};
for (const image of document.querySelectorAll("article img")) {
  const shown = image.closest("picture") ?? image;
  const link = document.createElement("a");
  link.href = image.src;
  shown.replaceWith(link);
  link.append(shown);
  if (shown !== image) continue;  // it has a narrow twin
  if (image.complete) keepReadable(image);
  else image.addEventListener("load", () => keepReadable(image));
}
// The frame of a Spanish page: what the theme and the list of pages say around it.
const SPANISH = {
  "Search": "Buscar", "Search...": "Buscar…", "Contents": "En esta página",
  "Skip to main content": "Ir al contenido", "Back to top": "Volver arriba",
  "Lessons": "Lecciones (en inglés)", "For the curious": "Para curiosos (en inglés)",
  "To look up": "Para consultar (en inglés)", "Evaluating retrieval": "Evaluar la recuperación",
  "System Settings": "Según el sistema", "Light": "Claro", "Dark": "Oscuro",
  "Color mode": "Modo de color", "Fullscreen mode": "Pantalla completa",
  "previous": "anterior", "next": "siguiente", "previous page": "página anterior",
  "next page": "página siguiente", "Main": "Principal", "Page": "Página",
  "Toggle primary sidebar": "Mostrar u ocultar la lista de páginas",
  "Toggle secondary sidebar": "Mostrar u ocultar los apartados",
};
if (document.documentElement.lang === "es") {
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const node = walk.currentNode, text = node.data.trim();
    if (SPANISH[text] && !node.parentElement.closest("article")) {
      node.data = node.data.replace(text, SPANISH[text]);
    }
  }
  for (const name of ["title", "aria-label", "placeholder", "data-bs-title"]) {
    for (const element of document.querySelectorAll(`[${name}]`)) {
      const text = SPANISH[element.getAttribute(name)];
      if (text) element.setAttribute(name, text);
    }
  }
}
