// A click on a figure opens it alone, so that a phone can enlarge it.
for (const image of document.querySelectorAll("article img")) {
  const shown = image.closest("picture") ?? image;
  const link = document.createElement("a");
  link.href = image.src;
  shown.replaceWith(link);
  link.append(shown);
}
