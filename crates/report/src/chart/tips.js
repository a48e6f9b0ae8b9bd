(() => {
  // Each drawing is one stop of the Tab key; arrow keys lead from mark to mark in it.
  const marks = (drawing) => [...drawing.querySelectorAll(".mark")];
  const stop = (mark) => {
    mark.setAttribute("tabindex", "0");
    mark.setAttribute("role", "img");
  };
  for (const drawing of document.querySelectorAll(".chart svg")) {
    const first = drawing.querySelector(".mark");
    if (first) stop(first);
  }
  const tip = document.createElement("div");
  tip.className = "chart-tip";
  tip.setAttribute("aria-hidden", "true");
  tip.hidden = true;
  document.body.append(tip);
  const markOf = (event) => event.target.closest?.(".chart .mark");
  const words = (mark) => {
    const all = marks(mark.ownerSVGElement);
    const lines = [mark.querySelector("title").textContent];
    if (all.length > 1) lines.push(`${all.indexOf(mark) + 1} of ${all.length}: arrow keys lead to the others`);
    return lines;
  };
  document.addEventListener("focusin", (event) => {
    const mark = markOf(event);
    tip.hidden = !mark;
    if (!mark) return;
    const [told, place] = words(mark);
    tip.textContent = told;
    if (place) {
      const small = document.createElement("small");
      small.textContent = place;
      tip.append(small);
    }
    const at = mark.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const left = Math.max(8, Math.min(at.left, room));
    tip.style.left = `${left + window.scrollX}px`;
    tip.style.top = `${at.bottom + window.scrollY + 6}px`;
  });
  document.addEventListener("focusout", () => (tip.hidden = true));
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  document.addEventListener("keydown", (event) => {
    const mark = markOf(event);
    if (!mark || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") {
      // First the words leave, then the focus: the next Tab leads on from here.
      if (tip.hidden) mark.blur();
      tip.hidden = true;
    }
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const all = marks(mark.ownerSVGElement);
    const next = all[Math.max(0, Math.min(all.indexOf(mark) + step, all.length - 1))];
    if (next === mark) return;
    mark.removeAttribute("tabindex");
    stop(next);
    next.focus();
  });
})();
