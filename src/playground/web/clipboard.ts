/** Throws what to tell the person at the page where the browser does not let pages copy. */
export async function copyText(text: string): Promise<void> {
  // Its type hides that it is for pages of https and of this machine alone.
  const { clipboard } = navigator as { readonly clipboard?: Clipboard };
  if (!clipboard) throw new Error('The browser lets this page copy nothing: open it over https.');
  await clipboard.writeText(text);
}
