interface TryAgainProps {
  /** The message of what failed. */
  readonly message: string;
  readonly onTryAgain: () => void;
}

/** Says once what failed, beside the button that tries it again. */
export function TryAgain({ message, onTryAgain }: TryAgainProps) {
  return (
    <div className="try-again">
      <p className="problem" role="alert">
        {message}
      </p>
      <button type="button" className="field-button" onClick={onTryAgain}>
        Try again
      </button>
    </div>
  );
}
