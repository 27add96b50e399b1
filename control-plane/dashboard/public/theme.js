// Before the first paint, so that nothing flashes: the theme that was chosen in this browser.
(() => {
  const theme = localStorage.getItem('weir.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
})();
