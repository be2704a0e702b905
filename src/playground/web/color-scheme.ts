const system = matchMedia('(prefers-color-scheme: dark)');

/** What the page's colors depend on: the theme chosen in GraphiQL's settings, else the system's. */
export function readColorScheme(): string {
  return getComputedStyle(document.documentElement).colorScheme + (system.matches ? ' on dark' : ' on light');
}

/** Calls back when the system turns to its other theme. */
export function subscribeSystemScheme(onChange: () => void): () => void {
  system.addEventListener('change', onChange);
  return () => system.removeEventListener('change', onChange);
}

/** Calls back when the page's colors may be others. GraphiQL notes its theme in the class of the body. */
export function subscribeColorScheme(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.body, { attributeFilter: ['class'] });
  const unsubscribe = subscribeSystemScheme(onChange);
  return () => {
    observer.disconnect();
    unsubscribe();
  };
}
