def people_section(results):
    return None
