import { useGraphiQL } from '@graphiql/react';
import { useEffect } from 'react';

/** Mends what of GraphiQL cannot be used by keyboard or is told wrongly to a screen reader. */
export function EditorAccess() {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const headerEditor = useGraphiQL((state) => state.headerEditor);
  const responseEditor = useGraphiQL((state) => state.responseEditor);

  // The editors would keep the Tab key to themselves: nobody gets out of them without a mouse.
  useEffect(() => {
    for (const editor of [queryEditor, variableEditor, headerEditor, responseEditor]) editor?.updateOptions({ tabFocusMode: true });
  }, [queryEditor, variableEditor, headerEditor, responseEditor]);
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
