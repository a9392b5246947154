// What makes the pages quicker for those with a script: keys, selections, sliders. Without it
// everything works by links and forms.
(() => {
  "use strict";

  const body = document.body;
  const prefix = body.dataset.prefix;
  const main = () => document.getElementById("main");
  const rows = () => [...main().querySelectorAll("[data-row]")];

  // Keys

  let pressedG = 0;
  const isTyping = (target) =>
    target.closest("input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]");
  const currentRow = () => document.activeElement && document.activeElement.closest("[data-row]");

  const focusRow = (step) => {
    const all = rows();
    if (!all.length) return;
    const now = all.indexOf(currentRow());
    const next = all[Math.min(Math.max(now + step, 0), all.length - 1)] || all[0];
    next.tabIndex = -1;
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };

  // Where a key acted, so that the next key acts there, too.
  let actedAt = -1;

  const press = (row, name) => {
    const button = (row || main()).querySelector(`[data-do="${name}"]`);
    if (button) {
      actedAt = rows().indexOf(row);
      button.click();
    }
    return Boolean(button);
  };

  const KEYS = {
    "/": () => document.getElementById("find") && document.getElementById("find").focus(),
    j: () => focusRow(1),
    k: () => focusRow(-1),
    x: () => {
      const box = currentRow() && currentRow().querySelector("input[type=checkbox]");
      if (box) box.click();
    },
    c: () => press(currentRow() || soleRow(), "confirm"),
    f: () => press(currentRow() || soleRow(), "forget") || press(currentRow() || soleRow(), "restore"),
    u: () => press(document.getElementById("note"), "undo"),
    n: () => press(null, "new"),
    "?": () => { location.href = `${prefix}/help`; },
    Enter: () => {
      const row = currentRow();
      if (!row || document.activeElement !== row) return false;
      const link = row.querySelector("[data-open]");
      if (link) link.click();
      return Boolean(link);
    },
  };
  const soleRow = () => (rows().length === 1 ? rows()[0] : null);

  document.addEventListener("keydown", (event) => {
    if (body.dataset.keys !== "on" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && isTyping(event.target)) { event.target.blur(); return; }
    if (isTyping(event.target)) return;
    if (pressedG && Date.now() - pressedG < 1500) {
      pressedG = 0;
      const link = document.querySelector(`#nav a[data-key="g ${event.key}"]`);
      if (link) { event.preventDefault(); link.click(); }
      return;
    }
    if (event.key === "g") { pressedG = Date.now(); return; }
    const act = KEYS[event.key];
    if (act && act() !== false) event.preventDefault();
  });

  // Selections

  const countChosen = () => {
    const boxes = [...main().querySelectorAll("input[name=id]")];
    const chosen = boxes.filter((box) => box.checked).length;
    for (const place of main().querySelectorAll("[data-chosen]")) {
      place.textContent = chosen ? `${chosen} selected` : "";
    }
    for (const all of main().querySelectorAll("[data-all]")) {
      all.checked = chosen > 0 && chosen === boxes.length;
      all.indeterminate = chosen > 0 && chosen < boxes.length;
    }
  };

  document.addEventListener("change", (event) => {
    const target = event.target;
    if (target.matches("[data-all]")) {
      for (const box of main().querySelectorAll("input[name=id]")) box.checked = target.checked;
      countChosen();
    } else if (target.matches("input[name=id]")) {
      countChosen();
    }
    // Filters apply at once.
    if (target.matches(".filters[role=search] select")) target.form.requestSubmit();
  });

  // Sliders say their value

  document.addEventListener("input", (event) => {
    const target = event.target;
    if (!target.matches("input[type=range]")) return;
    for (const place of document.querySelectorAll(`output[data-for="${target.id}"]`)) {
      place.textContent = target.dataset.from
        ? moment(target)
        : String(Number(target.value));
    }
  });

  const moment = (slider) => {
    const from = Number(slider.dataset.from);
    const to = Number(slider.dataset.to);
    const share = (slider.value - slider.min) / (slider.max - slider.min);
    return new Date(from + share * (to - from)).toISOString().slice(0, 16).replace("T", " ");
  };

  // Copying

  const showCopies = () => {
    for (const button of document.querySelectorAll("button[data-copy]")) button.hidden = false;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    await navigator.clipboard.writeText(source.textContent);
    const said = button.firstChild.textContent;
    button.firstChild.textContent = "Copied";
    setTimeout(() => { button.firstChild.textContent = said; }, 1500);
  });

  // After a script has put in another page or more rows

  document.addEventListener("htmx:after:swap", () => {
    showCopies();
    countChosen();
    if (actedAt >= 0 && !currentRow()) {
      const row = rows()[Math.min(actedAt, rows().length - 1)];
      if (row) {
        row.tabIndex = -1;
        row.focus({ preventScroll: true });
      }
    }
    actedAt = -1;
    const failure = main().querySelector(".trouble");
    if (failure) window.scrollTo(0, 0);
  });
  // The link to the next page leads on from the rows that were just added.
  document.addEventListener("htmx:after:request", (event) => {
    const link = event.detail.ctx && event.detail.ctx.sourceElement;
    if (!link || !link.matches("[data-more]")) return;
    const text = event.detail.ctx.text || "";
    const page = new DOMParser().parseFromString(text, "text/html");
    const next = page.querySelector("a[data-more]");
    const nav = link.closest("nav");
    setTimeout(() => {
      if (next) {
        const fresh = document.importNode(next, true);
        link.replaceWith(fresh);
        window.htmx.process(fresh);
      } else if (nav) {
        const end = document.createElement("span");
        end.className = "end";
        end.textContent = "That is all.";
        link.replaceWith(end);
      }
    });
  });

  // Once

  for (const box of document.querySelectorAll("[data-center]")) {
    box.scrollLeft = (box.scrollWidth - box.clientWidth) / 2;
  }
  showCopies();
  if (!window.isSecureContext) {
    for (const place of document.querySelectorAll("[data-insecure]")) place.hidden = false;
  }
  const waiting = document.querySelector("form[data-submit]");
  if (waiting) waiting.requestSubmit();
})();
