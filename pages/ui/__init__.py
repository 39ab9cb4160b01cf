"""What the pages share: the frame, the image viewer, errors and the words around them."""
