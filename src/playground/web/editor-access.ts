import { useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

/** Mends what GraphiQL tells wrongly to a screen reader. */
export function EditorAccess() {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  useEffect(() => {
    const tabs = document.querySelector('.graphiql-tabs');
    if (!tabs) return;
    mendTabs(tabs);
    const observer = new MutationObserver(() => mendTabs(tabs));
    observer.observe(tabs, { subtree: true, childList: true, attributeFilter: ['aria-selected'] });
    return () => observer.disconnect();
  }, [queryEditor]);
  return null;
}

/** They hold buttons, which a tab may not: it is a list whose buttons are tabs. GraphiQL sets the attribute again when it changes. */
function mendTabs(tabs: Element): void {
  tabs.setAttribute('role', 'list');
  for (const tab of tabs.querySelectorAll(':scope > li')) {
    tab.setAttribute('role', 'listitem');
    const selected = tab.getAttribute('aria-selected');
    if (selected === null) continue;
    tab.removeAttribute('aria-selected');
    tab.querySelector('.graphiql-tab-button')?.setAttribute('aria-current', selected);
  }
}
