// Whether every figure is there to be seen, in the browser's own letters.

import { join } from 'node:path';

// Letters of two labels may touch by so many px: a browser's boxes of text are higher than letters.
const TOUCH = 2;

// The height of a common screen, in px.
const SCREEN = 800;

// Opens all folds, measures each figure and keeps a picture of it in `shots`.
export async function drawn(page, shots, at) {
  await page.evaluate(() => document.querySelectorAll('details').forEach((fold) => { fold.open = true; }));
  const figures = await page.locator('figure.chart').all();
  const pictures = [];
  for (const figure of figures) {
    const id = await figure.getAttribute('id');
    for (const fault of await figure.evaluate(measured, TOUCH)) {
      at(`figure ${id}: ${fault}`);
    }
    pictures.push([id, (await figure.locator('svg:visible').evaluateAll((all) => all.map((svg) => svg.outerHTML))).join('')]);
  }
  const ids = await page.evaluate(() => [...document.querySelectorAll('[id]')].map((element) => element.id));
  const again = ids.find((id, place) => ids.indexOf(id) !== place);
  if (again) {
    at(`two elements are called ${again}`);
  }
  await pictured(page, shots, pictures);
  return figures.length;
}

// Draws each figure in a page of its own: in a page with thousands of marks a picture takes seconds.
async function pictured(page, shots, pictures) {
  if (pictures.length === 0) {
    return;
  }
  const style = await page.evaluate(() => document.querySelector('style').textContent);
  const alone = await page.context().newPage();
  for (const [id, svg] of pictures) {
    await alone.setContent(`<!DOCTYPE html><style>${style}</style><body><main class="chart"><div class="panels">${svg}</div></main></body>`);
    await alone.screenshot({ path: join(shots, `${id}.png`), fullPage: true });
  }
  await alone.close();
}

// Whether the figure that shows the answer ends on the first screen of a small study.
export async function answered(page, at) {
  const bottom = await page.evaluate(() => document.querySelector('#answer figure.chart')?.getBoundingClientRect().bottom);
  if (!(bottom <= SCREEN)) {
    at(`the figure that shows the answer ends at ${bottom} px, the first screen at ${SCREEN}`);
  }
}

// Whether nothing is wider than the screen.
export async function fits(page, at) {
  const { whole, screen } = await page.evaluate(() => ({
    whole: document.documentElement.scrollWidth, screen: document.documentElement.clientWidth,
  }));
  if (whole > screen) {
    at(`the page is ${whole} px wide on a screen of ${screen}`);
  }
}

// Runs in the page.
function measured(figure, touch) {
  const faults = [];
  const isSeen = (element) => {
    const { width, height } = element.getBoundingClientRect();
    return width > 0 && height > 0 && getComputedStyle(element).visibility === 'visible';
  };
  const all = [...figure.querySelectorAll('svg')];
  const drawings = all.filter(isSeen);
  // A figure of several panels, or in a fold, has a drawing for each panel, and all are shown; any
  // other has one for wide and one for narrow screens.
  const wanted = figure.querySelector('.panels') ? all.length : 1;
  if (drawings.length !== wanted || wanted === 0) {
    return [`${drawings.length} drawings are visible, not ${wanted}`];
  }
  if (!isSeen(figure.querySelector('figcaption')) || !figure.querySelector('table')) {
    faults.push('its words or its table are missing');
  }
  return faults.concat(drawings.flatMap((drawing) => labelled(drawing)));

  function labelled(drawing) {
    const faults = [];
    const around = drawing.getBoundingClientRect();
    const labels = [...drawing.querySelectorAll('text')].filter(isSeen)
      .map((label) => ({ text: label.textContent, box: label.getBoundingClientRect() }));
    if (labels.length === 0) {
      faults.push('no label is visible');
    }
    for (const { text, box } of labels) {
      if (box.left < around.left - touch || box.right > around.right + touch
        || box.top < around.top - touch || box.bottom > around.bottom + touch) {
        faults.push(`the label "${text}" leaves the drawing`);
      }
    }
    labels.forEach((one, place) => {
      for (const other of labels.slice(place + 1)) {
        const wide = Math.min(one.box.right, other.box.right) - Math.max(one.box.left, other.box.left);
        const high = Math.min(one.box.bottom, other.box.bottom) - Math.max(one.box.top, other.box.top);
        // A box has room above and below its letters.
        if (wide > touch && high > Math.min(one.box.height, other.box.height) * 0.35) {
          faults.push(`the labels "${one.text}" and "${other.text}" overlap`);
        }
      }
    });
    return faults;
  }
}
