'use strict';

// Colours: those of the system, until the reader changes them for this page.
const root = document.documentElement;
const theme = document.getElementById('theme');
const system = matchMedia('(prefers-color-scheme: dark)');
const isDark = () => root.dataset.theme ? root.dataset.theme === 'dark' : system.matches;
const label = () => { theme.textContent = isDark() ? 'Light colours' : 'Dark colours'; };
theme.addEventListener('click', () => { root.dataset.theme = isDark() ? 'light' : 'dark'; label(); });
system.addEventListener('change', label);
label();
theme.hidden = false;

// A link into a fold opens it.
const reveal = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) { return; }
  let fold = target.closest('details:not([open])');
  if (!fold) { return; }
  while (fold) { fold.open = true; fold = target.closest('details:not([open])'); }
  target.scrollIntoView();
};
addEventListener('hashchange', reveal);
reveal();

// Downloads: the packed texts are joined; no number is read, so no digit is lost.
const unpack = async (link) => {
  const text = atob(link.href.slice(link.href.indexOf(',') + 1));
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const packed = JSON.parse(await new Response(stream).text());
  for (const metric of packed.metrics) { metric.values = metric.values.split(' '); }
  return packed;
};
const own = (packed, run) => packed.metrics.filter((metric) => metric.values[run] !== '');
const makers = {
  csv: (packed) => packed.header + packed.rows.map((row, run) => {
    const lines = own(packed, run).map((metric) => `${row},${metric.csv},${metric.values[run]}\n`);
    return lines.length ? lines.join('') : `${row},,,\n`;
  }).join(''),
  json: (packed) => {
    const number = (text) => /[0-9]$/.test(text) ? text : 'null';
    const runs = packed.runs.map((run, place) => {
      const metrics = own(packed, place).map((metric) => `${metric.json}:${number(metric.values[place])}`);
      return `${run.slice(0, -1)},"metrics":{${metrics.join(',')}}}`;
    });
    return `${packed.document.slice(0, -1)},"runs":[${runs.join(',')}]}\n`;
  },
};
const types = { csv: 'text/csv', json: 'application/json' };
for (const button of document.querySelectorAll('button[data-kind]')) {
  const kind = button.dataset.kind;
  const block = button.closest('.download');
  button.addEventListener('click', async () => {
    const status = block.querySelector('[role=status]');
    try {
      const text = makers[kind](await unpack(block.querySelector('a')));
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob([text], { type: types[kind] }));
      link.download = `${button.dataset.name}.${kind}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
      status.textContent = '';
    } catch (error) {
      status.textContent = `This browser cannot unpack it (${error.message}): netassay db export writes the same.`;
    }
  });
  button.hidden = false;
}
