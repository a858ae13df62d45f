// For the notebooks in a browser: says what is happening, and follows links to the site.
(() => {
  const box = document.createElement("div");
  box.setAttribute("role", "status");
  box.style.cssText =
    "position:fixed;right:0;bottom:0;z-index:99999;padding:8px 14px;font:16px system-ui;" +
    "background:#222;color:#fff;border-radius:6px 0 0 0";
  const begin = Date.now();
  const say = (text) => { box.textContent = text; box.hidden = !text; };
  document.addEventListener("DOMContentLoaded", () => {
    document.body.append(box);
    if (location.protocol === "file:") {
      box.style.cssText = "margin:15vh auto;max-width:34rem;font:18px/1.5 system-ui";
      box.innerHTML =
        "<b>Notebooks do not run from a file.</b> A browser asks for a server. In the " +
        "folder of the site call <code>python3 -m http.server</code>, and open " +
        "<code>http://127.0.0.1:8000</code>. The pages work without one: " +
        '<a href="../../index.html">to the pages</a>.';
      return;
    }
    let ready = false;
    const phone = matchMedia("(max-width: 600px)").matches;
    const look = () => {
      const seconds = Math.round((Date.now() - begin) / 1000);
      const context = window.jupyterapp?.shell?.currentWidget?.sessionContext;
      const status = context?.session?.kernel?.status;
      ready ||= status === "idle" || status === "busy";  // unknown until Python is there
      if (!context) say(`JupyterLite starts … ${seconds} s`);
      else if (!ready && phone) say("On a phone, read: the first cell leads to all results.");
      else if (!ready && seconds < 30) say(`Python starts … ${seconds} s`);
      else if (!ready) say(`Python loads … ${seconds} s. With the first cell, 85 MB, once.`);
      else say(status === "busy" ? "Python works. Results come from the top down." : "");
    };
    look();
    setInterval(look, 500);
  });
  // JupyterLab's shortcuts take the arrow keys from a slider, unless told not to
  document.addEventListener("focusin", (event) => {
    const widget = event.target.closest?.(".jupyter-widgets");
    for (let part = event.target; widget && part; part = part.parentElement) {
      part.setAttribute("data-lm-suppress-shortcuts", "true");
      if (part === widget) break;
    }
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.('a[href^="#page="]');
    if (!link) return;
    event.preventDefault();
    event.stopPropagation();
    const address = link.getAttribute("href").slice("#page=".length);
    window.open(new URL(`../../${address}`, location.href), "_blank");
  }, true);
})();
