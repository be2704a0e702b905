const system = matchMedia('(prefers-color-scheme: dark)');

/** What the page's colors depend on: the theme chosen in GraphiQL's settings, else the system's. */
export function readColorScheme(): string {
  return getComputedStyle(document.documentElement).colorScheme + (system.matches ? ' on dark' : ' on light');
}

/** Calls back when it may be another. GraphiQL notes its theme in the class of the body. */
export function subscribeColorScheme(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.body, { attributeFilter: ['class'] });
  system.addEventListener('change', onChange);
  return () => {
    observer.disconnect();
    system.removeEventListener('change', onChange);
  };
}
