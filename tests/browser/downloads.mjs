// Whether what the page gives to save is what the store holds.

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

export async function downloads(page, stored, at) {
  for (const [kind, wanted] of Object.entries(stored)) {
    const buttons = await page.locator(`button[data-kind=${kind}]`).all();
    if (buttons.length !== 1) {
      at(`${buttons.length} buttons save ${kind}, not 1`);
      continue;
    }
    const [download] = await Promise.all([page.waitForEvent('download'), buttons[0].click()]);
    const saved = readFileSync(await download.path(), 'utf8');
    if (!download.suggestedFilename().endsWith(`.${kind}`)) {
      at(`${kind} is saved as ${download.suggestedFilename()}`);
    }
    if (!same(kind, saved, wanted)) {
      at(`the ${kind} of the page (${saved.length} letters) is not what the store holds (${wanted.length})`);
    }
  }
}

// The page leaves out the results and the full account of each run, and says so.
function same(kind, saved, wanted) {
  if (kind === 'csv') {
    return saved === wanted;
  }
  const whole = JSON.parse(wanted);
  delete whole.results;
  whole.runs.forEach((run) => delete run.detail);
  return isDeepStrictEqual(JSON.parse(saved), whole);
}
