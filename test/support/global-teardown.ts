export default async function tearDown(): Promise<void> {
  await globalThis.stopTestPooler?.();
  await globalThis.stopTestDatabase?.();
}
