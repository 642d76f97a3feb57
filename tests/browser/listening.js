// Keeps what a screen reader says by itself: each new text of a live region.
const LIVE = '[role=status], [role=alert], [role=log], [aria-live]:not([aria-live=off])';
const texts = () => [...document.querySelectorAll(LIVE)].map((live) => tidy(live.textContent));
let last = texts();
window.heard = [];
new MutationObserver(() => {
  const now = texts();
  window.heard.push(...now.filter((text, index) => text && text !== last[index]));
  last = now;
}).observe(document, { subtree: true, childList: true, characterData: true });
