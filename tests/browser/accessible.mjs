// What axe-core finds: https://github.com/dequelabs/axe-core

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

// axe-core takes a minute for a page of thousands of rows and marks. Each table and each drawing
// keeps so many rows, marks and labels of each kind: those of a kind differ in their words only.
const KEPT = 2;
// What is repeated, and in what.
const REPEATED = { tbody: 'tr', '.chart svg': '.mark, text' };

// The rules that judge colours; a theme changes nothing that others judge.
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];

// By all rules, or by those that judge colours. The page has less in it afterwards: this is the last
// check of a page.
export async function accessible(page, isWhole, at) {
  await page.evaluate(thinned, [REPEATED, KEPT]);
  // Not as a script element: the page's security policy refuses it, as it should.
  await page.evaluate(source);
  const options = { resultTypes: ['violations'], ...(isWhole ? {} : { runOnly: OF_COLOURS }) };
  const { violations } = await page.evaluate((options) => globalThis.axe.run(options), options);
  for (const { id, help, nodes } of violations) {
    at(`axe-core: ${id}: ${help} (${nodes.length}): ${nodes[0].html.slice(0, 200)} ${(nodes[0].failureSummary ?? '').slice(0, 300)}`);
  }
}

// Runs in the page: leaves so many of each kind. A kind is all that decides how an element looks and
// what it is for: the names, classes, styles, colours and roles of it and of what is in it.
function thinned([repeated, kept]) {
  const looks = ['class', 'style', 'fill', 'stroke', 'role', 'tabindex', 'scope'];
  const kind = (element) => [element, ...element.querySelectorAll('*')]
    .map((one) => [one.localName, ...looks.map((name) => one.getAttribute(name))].join()).join();
  for (const [whole, parts] of Object.entries(repeated)) {
    for (const one of document.querySelectorAll(whole)) {
      const seen = new Map();
      for (const part of one.querySelectorAll(parts)) {
        const count = (seen.get(kind(part)) ?? 0) + 1;
        seen.set(kind(part), count);
        if (count > kept) {
          part.remove();
        }
      }
    }
  }
}
