// Applies the theme selected in this browser before the first paint, so that the page does not flash.
(() => {
  const theme = localStorage.getItem('weir.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
})();
