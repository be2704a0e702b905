import { useSyncExternalStore } from 'react';

const system = matchMedia('(prefers-color-scheme: dark)');

/** The key under which GraphiQL keeps its theme too, so that both modes have one. */
const storageKey = 'graphiql:theme';

/** The themes, in words. The system's theme is the one that the browser or the system was told to use. */
export const themes = { system: 'As the system', light: 'Light', dark: 'Dark' } as const;
export type Theme = keyof typeof themes;

const readTheme = (): Theme => {
  const { classList } = document.body;
  return classList.contains('graphiql-dark') ? 'dark' : classList.contains('graphiql-light') ? 'light' : 'system';
};

/** Colors the whole page, and keeps the theme for the next visit. GraphiQL sets the same class of the body in its settings. */
function setTheme(theme: Theme): void {
  document.body.classList.remove('graphiql-light', 'graphiql-dark');
  if (theme === 'system') localStorage.removeItem(storageKey);
  else {
    document.body.classList.add(`graphiql-${theme}`);
    localStorage.setItem(storageKey, theme);
  }
}

/** Colors the page as the visit before. */
export function restoreTheme(): void {
  const stored = localStorage.getItem(storageKey);
  if (stored === 'light' || stored === 'dark') setTheme(stored);
}

/** The page's theme, and a way to change it. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(subscribeColorScheme, readTheme), setTheme];
}

/** Calls back when the system changes between its light and dark theme. Returns a function that unsubscribes. */
export function subscribeSystemScheme(onChange: () => void): () => void {
  system.addEventListener('change', onChange);
  return () => system.removeEventListener('change', onChange);
}

/** Calls back when the page's colors may have changed. GraphiQL sets its theme as a class of the body. */
function subscribeColorScheme(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.body, { attributeFilter: ['class'] });
  const unsubscribe = subscribeSystemScheme(onChange);
  return () => {
    observer.disconnect();
    unsubscribe();
  };
}
