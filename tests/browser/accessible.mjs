// What axe-core finds: https://github.com/dequelabs/axe-core

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export async function accessible(page, at) {
  // Not as a script element: the page's security policy refuses it, as it should.
  await page.evaluate(source);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  for (const { id, help, nodes } of violations) {
    at(`axe-core: ${id}: ${help} (${nodes.length}): ${nodes[0].html.slice(0, 200)} ${(nodes[0].failureSummary ?? '').slice(0, 300)}`);
  }
}
