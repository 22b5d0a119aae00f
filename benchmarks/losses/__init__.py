"""The race of the losses: boxreg's default against L-BFGS-B, skglm and scikit-learn."""
