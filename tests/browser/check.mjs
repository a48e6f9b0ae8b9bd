// Opens every report of a folder in a browser and checks what people see of it.
//
// node check.mjs REPORTS ARTEFACTS: in REPORTS each `NAME.html` has `NAME.csv` and `NAME.json`
// beside it, what `netassay db export` writes of the same study. Screenshots go to ARTEFACTS. Exit
// code 1, with a line for each fault, if there is any.

import { mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { accessible } from './accessible.mjs';
import { downloads } from './downloads.mjs';
import { answered, drawn, fits } from './drawn.mjs';
import { keyboard, marks, unmarked } from './reached.mjs';

// A theme changes colours and no place; a width changes places and no colour.
const VIEWS = [{ width: 1280, theme: 'light' }, { width: 390, theme: 'dark' }];

const [reports, artefacts] = process.argv.slice(2, 4).map((path) => resolve(path));
// The reports of `offload-gain-SCENARIO` are as large as that of `offload-gain`, and of the same form.
const names = readdirSync(reports).filter((name) => name.endsWith('.html') && !name.startsWith('offload-gain-'))
  .sort();
const faults = [];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
    '--disable-component-update', '--disable-sync'],
  chromiumSandbox: false,
});
let figures = 0;
// Four at a time: most of the time a page waits for its next frame. The largest first, so that none
// is left at the end.
const size = (name) => statSync(join(reports, name)).size;
const queue = [...names].sort((one, other) => size(other) - size(one));
await Promise.all([1, 2, 3, 4].map(async () => {
  while (queue.length > 0) {
    await checked(queue.shift());
  }
}));
await browser.close();
console.log(`${names.length} reports, ${figures} views of figures, ${faults.length} faults`);
for (const fault of faults) {
  console.error(fault);
}
process.exitCode = faults.length > 0 || names.length === 0 ? 1 : 0;

// Everything that is checked of one report.
async function checked(name) {
  const begun = performance.now();
  const path = join(reports, name);
  const found = [];
  for (const [place, { width, theme }] of VIEWS.entries()) {
    const at = (fault) => found.push(`${width} px, ${theme}: ${fault}`);
    const isFirst = place === 0;
    const shots = join(artefacts, basename(name, '.html'), `${width}-${theme}`);
    mkdirSync(shots, { recursive: true });
    await opened(path, { width, theme, script: true }, at, async (page) => {
      if (isFirst && name === 'quick.html') {
        await answered(page, at);
      }
      const seen = await drawn(page, shots, at);
      figures += seen;
      await fits(page, at);
      await marks(page, !isFirst, at);
      if (isFirst) {
        await keyboard(page, at);
        await downloads(page, { csv: text(path, 'csv'), json: text(path, 'json') }, at);
      }
      await accessible(page, isFirst, at);
    });
  }
  const at = (fault) => found.push(`without script: ${fault}`);
  await opened(path, { width: 1280, theme: 'light', script: false }, at, async (page) => {
    await fits(page, at);
    await unmarked(page, at);
    await page.emulateMedia({ media: 'print' });
    const printed = await page.pdf({ path: join(artefacts, basename(name, '.html'), 'printed.pdf') });
    if (printed.length === 0) {
      found.push('printing gives nothing');
    }
  });
  told(name, found, begun);
}

function told(name, found, begun) {
  console.log(`${name}: ${found.length} faults, ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  faults.push(...found.map((fault) => `${name}: ${fault}`));
}

// Opens a page without a network, hands it on, and tells what it complained of or asked for.
async function opened(path, { width, theme, script }, at, look) {
  const context = await browser.newContext({
    colorScheme: theme, viewport: { width, height: 900 }, javaScriptEnabled: script, offline: true,
    reducedMotion: 'reduce', acceptDownloads: true,
  });
  const page = await context.newPage();
  const address = pathToFileURL(path).href;
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) {
      at(`the console says: ${message.text()}`);
    }
  });
  page.on('pageerror', (error) => at(`the script failed: ${error.message}`));
  page.on('request', (request) => {
    const asked = request.url();
    if (asked.split('#')[0] !== address && !/^(data|blob):/.test(asked)) {
      at(`the page asks for ${asked.slice(0, 200)}`);
    }
  });
  await page.goto(address);
  await look(page);
  await context.close();
}

function text(path, kind) {
  return readFileSync(path.replace(/html$/, kind), 'utf8');
}
