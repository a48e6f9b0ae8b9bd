// What the keyboard and the pointer reach.

// Tab visits everything that can be used, and shows where it is.
export async function keyboard(page, at) {
  const wanted = await page.evaluate(() => {
    const usable = 'a[href], button, summary, input, select, textarea, [tabindex="0"]';
    const isSeen = (element) => element.checkVisibility({ visibilityProperty: true });
    globalThis.wanted = [...document.querySelectorAll(usable)].filter(isSeen);
    globalThis.reached = new Set();
    globalThis.unmarked = [];
    document.addEventListener('focusin', ({ target }) => {
      globalThis.reached.add(target);
      const { outlineStyle, outlineWidth } = getComputedStyle(target);
      if (outlineStyle === 'none' || parseFloat(outlineWidth) === 0) {
        globalThis.unmarked.push(target.outerHTML.slice(0, 120));
      }
    });
    document.activeElement?.blur();
    scrollTo(0, 0);
    return globalThis.wanted.length;
  });
  for (let step = 0; step < wanted + 2; step += 1) {
    await page.keyboard.press('Tab');
  }
  const { missed, unmarked } = await page.evaluate(() => ({
    missed: globalThis.wanted.filter((element) => !globalThis.reached.has(element))
      .map((element) => element.outerHTML.slice(0, 120)),
    unmarked: globalThis.unmarked,
  }));
  if (missed.length > 0) {
    at(`Tab does not reach ${missed.length} of ${wanted}, first ${missed[0]}`);
  }
  if (unmarked.length > 0) {
    at(`the focus is not visible on ${unmarked.length}, first ${unmarked[0]}`);
  }
}

// A mark's words appear beside it with the keyboard's focus, and leave with it. Under a pointer the
// browser itself shows them: the title of the mark.
export async function tooltips(page, at) {
  const tip = page.locator('.chart-tip:visible');
  for (const figure of await page.locator('figure.chart').all()) {
    const id = await figure.getAttribute('id');
    const mark = figure.locator('svg:visible .mark').first();
    if (await mark.count() === 0) {
      continue;
    }
    const words = await mark.evaluate((element) => element.querySelector(':scope > title')?.textContent);
    await mark.focus();
    const told = await tip.count() > 0 ? await tip.first().textContent() : '';
    if (!words || told !== words) {
      at(`figure ${id}: the focus on a mark with the words "${words}" shows "${told}"`);
      continue;
    }
    const box = await tip.first().boundingBox();
    const width = page.viewportSize().width;
    if (box.x < 0 || box.x + box.width > width) {
      at(`figure ${id}: the words of a mark leave the screen`);
    }
    await page.keyboard.press('Escape');
    if (await tip.count() > 0) {
      at(`figure ${id}: Escape does not close the words of a mark`);
    }
  }
}
