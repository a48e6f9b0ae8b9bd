// What the keyboard and the pointer reach.

// So many steps with Tab are taken: a step takes a frame of the browser, and a page may have
// thousands of marks. The other elements are given the focus one by one.
const STEPS = 40;

// Tab goes through what can be used in the order of the page, all of it takes the focus, and the
// focus can be seen.
export async function keyboard(page, at) {
  const count = await page.evaluate(() => {
    const usable = 'a[href], button, summary, input, select, textarea, [tabindex="0"]';
    const isSeen = (element) => element.checkVisibility({ visibilityProperty: true });
    globalThis.usable = [...document.querySelectorAll(usable)].filter(isSeen);
    document.activeElement?.blur();
    scrollTo(0, 0);
    return globalThis.usable.length;
  });
  for (let step = 0; step < Math.min(STEPS, count); step += 1) {
    await page.keyboard.press('Tab');
    const wrong = await page.evaluate((place) => {
      const [focused, wanted] = [document.activeElement, globalThis.usable[place]];
      return focused === wanted ? '' : `${focused.outerHTML.slice(0, 120)}, not ${wanted.outerHTML.slice(0, 120)}`;
    }, step);
    if (wrong) {
      at(`step ${step + 1} with Tab reaches ${wrong}`);
      return;
    }
  }
  const { missed, unmarked } = await page.evaluate(() => {
    const found = { missed: [], unmarked: [] };
    for (const element of globalThis.usable) {
      element.focus({ preventScroll: true });
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      const words = element.outerHTML.slice(0, 120);
      if (document.activeElement !== element || element.tabIndex < 0) {
        found.missed.push(words);
      } else if (outlineStyle === 'none' || parseFloat(outlineWidth) === 0) {
        found.unmarked.push(words);
      }
    }
    return found;
  });
  if (missed.length > 0) {
    at(`${missed.length} of ${count} do not take the focus, first ${missed[0]}`);
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
