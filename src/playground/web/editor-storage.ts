import type { GraphiQLProps } from 'graphiql';

type EditorStorage = NonNullable<GraphiQLProps['storage']>;

const namespace = 'graphiql:';
const tabsKey = `${namespace}tabState`;

/**
 * localStorage for GraphiQL's tabs, history and layout, without what must not outlive the page: request headers, which
 * GraphiQL's history would keep although `shouldPersistHeaders` is off, and operations with a password in them.
 */
export const editorStorage: EditorStorage = {
  get length() {
    return localStorage.length;
  },
  getItem(key) {
    const item = key.slice(namespace.length);
    // GraphiQL stores what its editors hold a second time, but not before somebody types: the active tab always knows.
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

/** Whether GraphiQL kept tabs here earlier. */
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
    // GraphiQL takes tabs that cannot be read for none, and so must this: else the page could never open again.
    return undefined;
  }
}

/** Tabs are blanked instead of dropped, because the stored state counts them. */
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
