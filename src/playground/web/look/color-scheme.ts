const system = matchMedia('(prefers-color-scheme: dark)');

/** Reads a text that changes with the page's colors: the theme of GraphiQL's settings, and the system's theme. */
export function readColorScheme(): string {
  return getComputedStyle(document.documentElement).colorScheme + (system.matches ? ' on dark' : ' on light');
}

/** Calls back when the system changes between its light and dark theme. Returns a function that unsubscribes. */
export function subscribeSystemScheme(onChange: () => void): () => void {
  system.addEventListener('change', onChange);
  return () => system.removeEventListener('change', onChange);
}

/** Calls back when the page's colors may have changed. GraphiQL sets its theme as a class of the body. */
export function subscribeColorScheme(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.body, { attributeFilter: ['class'] });
  const unsubscribe = subscribeSystemScheme(onChange);
  return () => {
    observer.disconnect();
    unsubscribe();
  };
}
