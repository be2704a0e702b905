import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect } from 'react';
import { subscribeSystemScheme } from './color-scheme';

/** Mends what GraphiQL tells wrongly to a screen reader, keeps its editors readable, and lets the keyboard out of them. */
export function EditorAccess() {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const headerEditor = useGraphiQL((state) => state.headerEditor);
  const responseEditor = useGraphiQL((state) => state.responseEditor);
  const theme = useGraphiQL((state) => state.theme);
  const { setTheme } = useGraphiQLActions();
  // GraphiQL reads the system's theme only when its own is set; the colors around the editors follow the system at once.
  useEffect(() => subscribeSystemScheme(() => setTheme(theme)), [theme, setTheme]);
  useEffect(() => {
    const tabs = document.querySelector('.graphiql-tabs');
    if (!tabs) return;
    mendTabs(tabs);
    const observer = new MutationObserver(() => mendTabs(tabs));
    observer.observe(tabs, { subtree: true, childList: true, attributeFilter: ['aria-selected'] });
    return () => observer.disconnect();
  }, [queryEditor]);
  useEffect(() => {
    const actions = [queryEditor, variableEditor, headerEditor, responseEditor].map((editor) => editor?.addAction(leaveEditor));
    return () => {
      for (const action of actions) action?.dispose();
    };
  }, [queryEditor, variableEditor, headerEditor, responseEditor]);
  return null;
}

/** Monaco's KeyCode.Escape. */
const ESCAPE = 9;

/** In an editor Tab is a character: Escape leads out, as Enter led in, unless there is something else for it to close. */
const leaveEditor = {
  id: 'leave-editor',
  label: 'Leave the editor',
  keybindings: [ESCAPE],
  precondition: '!suggestWidgetVisible && !findWidgetVisible && !parameterHintsVisible',
  run: (editor: { getContainerDomNode(): HTMLElement }) => editor.getContainerDomNode().focus(),
};

/** They hold buttons, which a tab may not: it is a list whose buttons are tabs. GraphiQL sets the attribute again when it changes. */
function mendTabs(tabs: Element): void {
  tabs.setAttribute('role', 'list');
  for (const tab of tabs.querySelectorAll(':scope > li')) {
    tab.setAttribute('role', 'listitem');
    const selected = tab.getAttribute('aria-selected');
    if (selected === null) continue;
    tab.removeAttribute('aria-selected');
    tab.querySelector('.graphiql-tab-button')?.setAttribute('aria-current', selected);
    // Of many tabs a new one is beyond the edge.
    if (selected === 'true') tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}
