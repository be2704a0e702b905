-- What the operations of a provision have cost in a minute. UNLOGGED, because each operation writes to it, and a crash may lose a minute.

-- CreateTable
CREATE UNLOGGED TABLE "spent_cost" (
    "key" TEXT NOT NULL,
    "points" INTEGER NOT NULL DEFAULT 0,
    "expire" BIGINT,

    CONSTRAINT "spent_cost_pkey" PRIMARY KEY ("key")
);
