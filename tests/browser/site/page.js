setInterval(() => { document.getElementById('clock').textContent = performance.now(); }, 20);
document.getElementById('count').addEventListener('click', () => {
  const status = document.querySelector('[role=status]');
  let count = 0;
  const timer = setInterval(() => {
    status.textContent = `${++count} of 3 rows`;
    if (count === 3) {
      clearInterval(timer);
      setTimeout(() => { document.querySelector('main').append('Counted.'); });
    }
    // The same text once more is no news.
    status.innerHTML = status.innerHTML;
  }, 30);
});
