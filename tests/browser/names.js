// Finds what people name: a button or a link by its text, a control by its label.
// It stands before every script of the tests.

const BUTTONS = 'a[href], summary, :is(button, input[type=submit], input[type=button]):enabled';
const CONTROLS = 'input:not([type=hidden], [type=submit], [type=button]), select, textarea';

const tidy = (text) => text.replace(/\s+/g, ' ').trim();

// The text in an element without that of controls in it.
function words(element) {
  const copy = element.cloneNode(true);
  copy.querySelectorAll('input, select, textarea, button').forEach((control) => control.remove());
  return tidy(copy.textContent);
}

function nameOf(element) {
  const ids = element.getAttribute('aria-labelledby')?.trim().split(/\s+/);
  const labels = ids?.map((id) => document.getElementById(id)).filter(Boolean) ?? element.labels;
  if (labels?.length) return [...labels].map(words).join(' ');
  const value = element.matches('input[type=submit], input[type=button]') && element.value;
  return element.getAttribute('aria-label') ?? (value || words(element));
}

// The whole page, the element of a selector, or the row of a table or list with this header.
function scopeOf({ css, row }) {
  if (css) return document.querySelector(css);
  if (!row) return document.body;
  const heads = [...document.querySelectorAll('th[scope=row], li, legend')];
  return heads.find((head) => nameOf(head) === row)?.closest('tr, li, fieldset');
}

// The element, or a text that says why there is none.
function named(scope, kind, name) {
  const root = scopeOf(scope);
  if (!root) return `there is no ${scope.css ?? scope.row}`;
  // Pages hide their file inputs behind something more beautiful.
  const isShown = (element) => element.type === 'file'
    || element.checkVisibility({ visibilityProperty: true });
  const shown = [...root.querySelectorAll(kind)].filter(isShown);
  const found = shown.filter((element) => nameOf(element) === name);
  if (found.length === 1) return found[0];
  const all = shown.map((element) => `“${nameOf(element)}”`).join(', ');
  return `${found.length} are called “${name}”; there are: ${all}`;
}
