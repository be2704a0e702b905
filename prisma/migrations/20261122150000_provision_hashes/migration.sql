-- A link names a provision by its hash. Prisma's schema language has no indexes over expressions.

-- CreateIndex
CREATE INDEX "provision_hash_idx" ON "provision"(sha256(uuid_send("id")));
