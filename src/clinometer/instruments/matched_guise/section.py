def words_section(results):
    return None
