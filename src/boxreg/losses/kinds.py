"""Numbers by which kernels know the losses of this package."""

SQUARES, HUBER, LOGISTIC, SQUARED_HINGE, LOG_COSH, KULLBACK_LEIBLER, BETA_DIVERGENCE = range(7)
