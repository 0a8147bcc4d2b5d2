def framing_sections(results):
    return ()
