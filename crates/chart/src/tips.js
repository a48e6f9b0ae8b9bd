(() => {
  const tip = document.createElement("div");
  tip.className = "chart-tip";
  tip.setAttribute("aria-hidden", "true");
  tip.hidden = true;
  document.body.append(tip);
  document.addEventListener("focusin", (event) => {
    const mark = event.target.closest(".chart .mark");
    const title = mark && mark.querySelector("title");
    tip.hidden = !title;
    if (!title) return;
    tip.textContent = title.textContent;
    const at = mark.getBoundingClientRect();
    const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
    const left = Math.max(8, Math.min(at.left, room));
    tip.style.left = `${left + window.scrollX}px`;
    tip.style.top = `${at.bottom + window.scrollY + 6}px`;
  });
  document.addEventListener("focusout", () => (tip.hidden = true));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") tip.hidden = true;
  });
})();
