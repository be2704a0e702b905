/** Copies a text. Throws an Error whose message the page shows when the browser does not let this page copy. */
export async function copyText(text: string): Promise<void> {
  // Browsers define it only on https and localhost pages; TypeScript's type does not say so.
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (!clipboard) throw new Error('The browser does not let this page copy. Open the page over https.');
  await clipboard.writeText(text);
}
