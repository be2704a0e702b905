import { useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useEffect } from 'react';
import { subscribeSystemScheme, useTheme } from '../look/color-scheme';

/** Corrects GraphiQL's roles for screen readers, keeps its editors in the page's theme, and lets the keyboard leave them. */
export function EditorAccess() {
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  const headerEditor = useGraphiQL((state) => state.headerEditor);
  const responseEditor = useGraphiQL((state) => state.responseEditor);
  const theme = useGraphiQL((state) => state.theme);
  const { setTheme } = useGraphiQLActions();
  const [pageTheme] = useTheme();
  // The account menu sets the page's theme, of which GraphiQL learns nothing by itself.
  useEffect(() => {
    if (pageTheme !== (theme ?? 'system')) setTheme(pageTheme === 'system' ? null : pageTheme);
  }, [pageTheme, theme, setTheme]);
  // GraphiQL reads the system's theme only when its own theme is set. Without this the editors keep the old theme.
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

/** Leaves an editor at Escape, because Tab types a character there. While a suggestion or search box is open, Escape closes that first. */
const leaveEditor = {
  id: 'leave-editor',
  label: 'Leave the editor',
  keybindings: [ESCAPE],
  precondition: '!suggestWidgetVisible && !findWidgetVisible && !parameterHintsVisible',
  run: (editor: { getContainerDomNode(): HTMLElement }) => editor.getContainerDomNode().focus(),
};

/**
 * Turns GraphiQL's tabs into a list of buttons, because an element with the ARIA role `tab` must not hold buttons. GraphiQL sets
 * aria-selected again at each change.
 */
function mendTabs(tabs: Element): void {
  tabs.setAttribute('role', 'list');
  for (const tab of tabs.querySelectorAll(':scope > li')) {
    tab.setAttribute('role', 'listitem');
    const selected = tab.getAttribute('aria-selected');
    if (selected === null) continue;
    tab.removeAttribute('aria-selected');
    tab.querySelector('.graphiql-tab-button')?.setAttribute('aria-current', selected);
    // With many tabs open, a new tab would be out of sight.
    if (selected === 'true') tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
}
