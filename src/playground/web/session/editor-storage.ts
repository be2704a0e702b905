import type { GraphiQLProps } from 'graphiql';

type EditorStorage = NonNullable<GraphiQLProps['storage']>;

const namespace = 'graphiql:';
const tabsKey = `${namespace}tabState`;

/**
 * Keeps GraphiQL's tabs, history and layout in localStorage, but no secrets. It drops operations that mention a password, and request
 * headers, which GraphiQL's history would keep although `shouldPersistHeaders` is off.
 */
export const editorStorage: EditorStorage = {
  get length() {
    return localStorage.length;
  },
  getItem(key) {
    const item = key.slice(namespace.length);
    // GraphiQL stores the editors' texts a second time, but only after somebody types. The active tab's texts are always current.
    if (item === 'query' || item === 'variables') return findActiveTab()?.[item] ?? null;
    return localStorage.getItem(key);
  },
  setItem(key, value) {
    switch (key.slice(namespace.length)) {
      case 'query':
      case 'variables':
      case 'headers':
        return;
      case 'tabState':
        localStorage.setItem(key, JSON.stringify(JSON.parse(value, blankSecretTab)));
        return;
      case 'queries':
      case 'favorites':
        localStorage.setItem(key, JSON.stringify(JSON.parse(value, dropSecretOperations)));
        return;
      default:
        localStorage.setItem(key, value);
    }
  },
  removeItem(key) {
    localStorage.removeItem(key);
  },
  clear() {
    for (const key of Object.keys(localStorage)) if (key.startsWith(namespace)) localStorage.removeItem(key);
  },
};

/** True when GraphiQL has stored tabs in this browser before. */
export function hasStoredTabs(): boolean {
  return localStorage.getItem(tabsKey) !== null;
}

interface StoredTabs {
  readonly activeTabIndex: number;
  readonly tabs: readonly { readonly query: string | null; readonly variables: string | null }[];
}

function findActiveTab(): StoredTabs['tabs'][number] | undefined {
  const stored = localStorage.getItem(tabsKey);
  if (stored === null) return undefined;
  try {
    const { tabs, activeTabIndex } = JSON.parse(stored) as StoredTabs;
    return tabs[activeTabIndex];
  } catch {
    // GraphiQL ignores stored tabs that cannot be read. Throwing here would keep the page from ever opening again.
    return undefined;
  }
}

/** Blanks a tab with a secret and does not remove it: the stored index of the active tab counts every tab. */
function blankSecretTab(key: string, value: unknown): unknown {
  if (key === 'headers') return null;
  return isSecretOperation(value) ? { ...value, query: null, variables: null } : value;
}

function dropSecretOperations(key: string, value: unknown): unknown {
  if (key === 'headers') return undefined;
  return Array.isArray(value) ? value.filter((item) => !isSecretOperation(item)) : value;
}

function isSecretOperation(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  return mentionsPassword('query' in value && value.query) || mentionsPassword('variables' in value && value.variables);
}

function mentionsPassword(text: unknown): boolean {
  return typeof text === 'string' && /password/i.test(text);
}
