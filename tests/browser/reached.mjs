// What the keyboard and the pointer reach.

// So many steps with Tab are taken: a step takes a frame of the browser. The other elements are
// given the focus one by one.
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

// Each drawing is one stop of Tab, arrow keys lead from mark to mark, and a mark's words appear
// beside it with the focus, and leave with it. Under a pointer the browser itself shows them: the
// title of the mark. A narrow screen is where words leave it, so there the keys are pressed.
export async function marks(page, isPressed, at) {
  const tip = page.locator('.chart-tip:visible');
  const width = page.viewportSize().width;
  for (const figure of await page.locator('figure.chart').all()) {
    const id = await figure.getAttribute('id');
    const drawings = await figure.evaluate(stops);
    for (const stop of drawings.filter(({ marks, stops }) => marks > 0 && stops !== 1)) {
      at(`figure ${id}: ${stop.stops} of the ${stop.marks} marks of a drawing are stops of Tab, not 1`);
    }
    if (!isPressed || !drawings.some(({ marks }) => marks > 0)) {
      continue;
    }
    await figure.locator('svg:visible .mark[tabindex="0"]').first().focus();
    // There and back, and what is told at each place.
    for (const key of ['', 'ArrowRight', 'End', 'ArrowUp', 'Home']) {
      if (key) {
        await page.keyboard.press(key);
      }
      const { told, words, place } = await page.evaluate(toldAt);
      if (!words || told !== words || !place) {
        at(`figure ${id}: after ${key || 'its focus'} the mark with the words "${words}" shows "${told}"`);
      }
    }
    const box = await tip.first().boundingBox();
    if (!box || box.x < 0 || box.x + box.width > width) {
      at(`figure ${id}: the words of a mark leave the screen`);
    }
    const left = [];
    for (const press of [1, 2]) {
      await page.keyboard.press('Escape');
      left.push(await tip.count() === 0, await page.evaluate(() => document.activeElement === document.body));
      if (press === 1 && left[1]) {
        at(`figure ${id}: the first Escape leaves the drawing`);
      }
    }
    if (!left[0] || !left[3]) {
      at(`figure ${id}: Escape does not close the words of a mark, then leave the drawing`);
    }
  }
}

// Without a script no mark is a stop of Tab, and every figure's table can be opened.
export async function unmarked(page, at) {
  const [marks, tables] = await page.evaluate(() => [
    document.querySelectorAll('.chart [tabindex]:not(.scroll)').length,
    [...document.querySelectorAll('figure.chart')].filter((one) => !one.querySelector('summary')).length,
  ]);
  if (marks > 0 || tables > 0) {
    at(`${marks} marks are stops of Tab, and ${tables} tables cannot be opened`);
  }
}

// Runs in the page: how many marks each visible drawing of a figure has, and how many of them are
// stops of Tab.
function stops(figure) {
  const drawings = [...figure.querySelectorAll('svg')].filter((one) => one.checkVisibility());
  return drawings.map((drawing) => ({
    marks: drawing.querySelectorAll('.mark').length,
    stops: drawing.querySelectorAll('.mark[tabindex="0"]').length,
  }));
}

// Runs in the page: the words of the mark that has the focus, what is shown beside it, and whether
// that says which of several it is.
function toldAt() {
  const [mark, tip] = [document.activeElement, document.querySelector('.chart-tip')];
  const all = [...mark.ownerSVGElement?.querySelectorAll('.mark') ?? []];
  const place = `${all.indexOf(mark) + 1} of ${all.length}:`;
  return {
    words: mark.querySelector(':scope > title')?.textContent,
    told: tip.hidden ? '' : tip.firstChild.textContent,
    place: all.length === 1 || (tip.querySelector('small')?.textContent ?? '').startsWith(place),
  };
}
