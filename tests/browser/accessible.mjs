// What axe-core finds: https://github.com/dequelabs/axe-core

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// axe-core takes a minute for a page of thousands of rows and marks. Of each table and of each
// drawing it gets so many: the same code writes the others.
const KEPT = { tbody: ['tr', 12], '.chart svg': ['.mark, text', 36] };

// The page has less in it afterwards: this is the last check of a page.
export async function accessible(page, at) {
  await page.evaluate((kept) => {
    for (const [whole, [parts, most]] of Object.entries(kept)) {
      for (const one of document.querySelectorAll(whole)) {
        [...one.querySelectorAll(parts)].slice(most).forEach((part) => part.remove());
      }
    }
  }, KEPT);
  // Not as a script element: the page's security policy refuses it, as it should.
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => globalThis.axe.run({ resultTypes: ['violations'] }));
  for (const { id, help, nodes } of violations) {
    at(`axe-core: ${id}: ${help} (${nodes.length}): ${nodes[0].html.slice(0, 200)} ${(nodes[0].failureSummary ?? '').slice(0, 300)}`);
  }
}
