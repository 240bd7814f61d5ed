// The theme that was chosen in this browser; without one the system's counts. Kept apart so that it runs before the first paint.
{
  let theme;
  try {
    theme = localStorage.getItem("forge.theme");
  } catch {
    // Storage may be forbidden; then the system's theme is shown.
  }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
}
