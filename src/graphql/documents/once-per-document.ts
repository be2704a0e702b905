import type { DocumentNode } from 'graphql';

/**
 * Computes what depends on a document's text alone once. Documents that are asked for again are kept, and the value as long as its
 * document.
 */
export function oncePerDocument<Value>(compute: (document: DocumentNode) => Value): (document: DocumentNode) => Value {
  const known = new WeakMap<DocumentNode, { readonly value: Value }>();
  return (document) => {
    const found = known.get(document) ?? { value: compute(document) };
    known.set(document, found);
    return found.value;
  };
}
